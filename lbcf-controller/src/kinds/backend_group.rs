//! BackendGroup: the load balancers that it names, and its status.
//!
//! Its backends are reconciled like a Bind's, by [`backends`](crate::backends).

use crate::api::reasons::{self, ReportReason};
use crate::api::{
    BackendGroup, BackendGroupStatus, BackendRecord, Condition, ObjectExt, ObjectKey, names,
};
use crate::backends::{self, BackendCounts, OwnerKind, to_i32, write_counts};
use crate::cluster::{Wait, WaitEvent, some};
use crate::index::{Index, LoadBalancerUse, Owner, UnusableLoadBalancer};
use crate::runtime::{Action, Context, Error};
use std::collections::BTreeMap;

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    context.confirm::<BackendGroup>(key).await?;
    backends::reconcile::<BackendGroup>(context, &Owner::Group(key.clone())).await
}

impl OwnerKind for BackendGroup {
    const SYNCED: &'static ReportReason = reasons::SUCC_SYNCED_GROUP;

    fn load_balancers(
        &self,
        index: &Index,
        _status: &BackendGroupStatus,
    ) -> BTreeMap<String, LoadBalancerUse> {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        let names = self.spec.load_balancer_names();
        let uses = names.map(|name| {
            let lb = index.get(&names::resolve(namespace, name));
            (name.to_owned(), LoadBalancerUse::of(&lb, namespace))
        });
        uses.collect()
    }

    fn load_balancer_wait(
        &self,
        _status: &BackendGroupStatus,
        load_balancers: &BTreeMap<String, LoadBalancerUse>,
    ) -> Option<Wait> {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        if load_balancers.is_empty() {
            let message = "spec.loadBalancers names no load balancer";
            let reason = reasons::NO_LOAD_BALANCERS;
            return Some(Wait::new(reason, message, WaitEvent::Problem));
        }
        let problems = load_balancers.iter().filter_map(|(name, lb)| {
            let (reason, event, problem) = problem(lb, namespace)?;
            let message = format!("LoadBalancer {} {problem}", names::resolve(namespace, name));
            Some((reason, event, message))
        });
        let problems: Vec<_> = problems.collect();
        // What needs a user comes first.
        let needs_user = |(_, event, _): &&(_, WaitEvent, _)| *event == WaitEvent::Problem;
        let first = problems.iter().find(needs_user).or(problems.first())?;
        let others = problems.iter().filter(|other| *other != first);
        let messages = std::iter::once(first).chain(others);
        let messages = some(messages.map(|(_, _, message)| message));
        Some(Wait::new(first.0, messages, first.1))
    }

    fn has_load_balancer_of(
        &self,
        index: &Index,
        _status: &BackendGroupStatus,
        record: &BackendRecord,
    ) -> bool {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        let spec = &record.spec;
        let lb = index.get(&names::resolve(namespace, &spec.lb_name));
        matches!(LoadBalancerUse::of(&lb, namespace), LoadBalancerUse::Usable(lb)
            if lb.lb_info == spec.lb_info && lb.driver == spec.lb_driver)
    }

    fn set_counts(&self, status: &mut BackendGroupStatus, counts: &BackendCounts) {
        status.backends = to_i32(counts.backends);
        status.registered_backends = to_i32(counts.registered);
        status.records = to_i32(counts.records);
        status.registered_records = to_i32(counts.registered_records);
        status.observed_generation = self.metadata.generation;
    }

    fn conditions(status: &mut BackendGroupStatus) -> &mut Vec<Condition> {
        &mut status.conditions
    }

    fn progress(status: &BackendGroupStatus) -> (i32, i32) {
        (status.backends, status.registered_backends)
    }

    async fn write_status(
        context: &Context,
        owner: &Owner,
        error: Option<&Error>,
    ) -> Result<Action, Error> {
        let group = context.index().find::<Self>(owner.key());
        match group.filter(|group| !group.is_deleting()) {
            Some(group) => write_counts(context, owner, &*group, error).await,
            None => Ok(Action::AwaitChange),
        }
    }
}

fn problem(
    lb: &LoadBalancerUse,
    namespace: &str,
) -> Option<(&'static ReportReason, WaitEvent, String)> {
    let (reason, event, problem) = match lb {
        LoadBalancerUse::Usable(_) => return None,
        LoadBalancerUse::Unknown => (
            reasons::LOAD_BALANCER_UNREADABLE,
            WaitEvent::Problem,
            "cannot be parsed; what is registered with it stays so",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::Missing) => (
            reasons::LOAD_BALANCER_NOT_FOUND,
            WaitEvent::Problem,
            "not found",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::Deleting) => (
            reasons::LOAD_BALANCER_DELETING,
            WaitEvent::Progress,
            "is being deleted",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated(cause)) => {
            let cause = cause.as_ref().map(|cause| format!(": {cause}"));
            let problem = format!("is not created yet{}", cause.unwrap_or_default());
            let reason = reasons::LOAD_BALANCER_NOT_CREATED;
            return Some((reason, WaitEvent::Progress, problem));
        }
        LoadBalancerUse::Unusable(UnusableLoadBalancer::OutOfScope) => {
            let problem = format!("cannot be used: its spec.scope does not include {namespace}");
            let reason = reasons::LOAD_BALANCER_OUT_OF_SCOPE;
            return Some((reason, WaitEvent::Problem, problem));
        }
    };
    Some((reason, event, problem.to_owned()))
}

#[cfg(test)]
mod tests;
