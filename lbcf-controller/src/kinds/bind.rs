//! Bind: load balancers and backends in one object.
//!
//! Its backends are reconciled like a BackendGroup's, by [`backends`](crate::backends). Each of its
//! [load balancers](load_balancer) is reconciled on its own, so that a slow or failing one delays neither
//! the others nor the backends.

pub(crate) mod load_balancer;

use crate::api::names::FINALIZER_LOAD_BALANCER;
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    BackendRecord, Bind, BindStatus, Condition, ConditionStatus, Conditions, ObjectExt, ObjectKey,
    TargetLoadBalancer, TargetLoadBalancerStatus, condition_types,
};
use crate::backends;
use crate::backends::{BackendCounts, OwnerKind, to_i32, write_counts};
use crate::cluster::{Wait, WaitEvent, some};
use crate::index::{
    BindLoadBalancerKey, Index, LoadBalancerUse, Owner, Request, RequestKey, UnusableLoadBalancer,
    UsableLoadBalancer,
};
use crate::runtime::{Action, Context, Error};
use std::collections::BTreeMap;

/// Reconciles a Bind's finalizer and backends.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let Some(bind) = context.confirm::<Bind>(key).await? else {
        return Ok(Action::AwaitChange);
    };
    if !bind.is_deleting() && !bind.has_finalizer(FINALIZER_LOAD_BALANCER) {
        if !context.options.dry_run {
            context
                .add_finalizer(&*bind, FINALIZER_LOAD_BALANCER)
                .await?;
            return Ok(Action::RequeueNow);
        }
        // Storing the finalizer would enqueue them.
        let names = bind.spec.load_balancers.iter().map(|lb| lb.name.clone());
        let lbs = names.map(|name| BindLoadBalancerKey {
            bind: key.clone(),
            name,
        });
        let requests = lbs.map(RequestKey::BindLoadBalancer).map(Request::normal);
        context.queue.add(requests);
    }
    backends::reconcile::<Bind>(context, &Owner::Bind(key.clone())).await
}

impl OwnerKind for Bind {
    const SYNCED: &'static ReportReason = reasons::SUCC_SYNCED_BIND;

    fn load_balancers(
        &self,
        _index: &Index,
        status: &BindStatus,
    ) -> BTreeMap<String, LoadBalancerUse> {
        let declared = self.spec.load_balancers.iter();
        declared
            .map(|lb| (lb.name.clone(), use_of(lb, &status.load_balancer_statuses)))
            .collect()
    }

    /// Events about the load balancers report the same.
    fn load_balancer_wait(
        &self,
        status: &BindStatus,
        _load_balancers: &BTreeMap<String, LoadBalancerUse>,
    ) -> Option<Wait> {
        let problems = self.spec.load_balancers.iter().filter_map(|lb| {
            let mut entries = status.load_balancer_statuses.iter();
            let entry = entries.find(|entry| entry.name == lb.name);
            let problem = entry.map_or(Some("is not created yet"), problem_of)?;
            Some(format!("{}: {problem}", lb.name))
        });
        let problems = some(problems);
        let reason = reasons::LOAD_BALANCERS_NOT_READY;
        (!problems.is_empty()).then(|| Wait::new(reason, problems, WaitEvent::Elsewhere))
    }

    fn has_load_balancer_of(
        &self,
        _index: &Index,
        status: &BindStatus,
        record: &BackendRecord,
    ) -> bool {
        let spec = &record.spec;
        status.load_balancer_statuses.iter().any(|entry| {
            entry.name == spec.lb_name
                && entry.driver == spec.lb_driver
                && entry.lb_info == spec.lb_info
                && entry.conditions.is_true(condition_types::CREATED)
        })
    }

    fn set_counts(&self, status: &mut BindStatus, counts: &BackendCounts) {
        let declared = &self.spec.load_balancers;
        let entries = status.load_balancer_statuses.iter();
        let ready = entries.filter(|entry| {
            declared.iter().any(|lb| lb.name == entry.name) && problem_of(entry).is_none()
        });
        status.ready_load_balancers = to_i32(ready.count());
        status.load_balancers = to_i32(declared.len());
        status.backends = to_i32(counts.backends);
        status.registered_backends = to_i32(counts.registered);
    }

    fn progress(status: &BindStatus) -> (i32, i32) {
        (status.backends, status.registered_backends)
    }

    fn conditions(status: &mut BindStatus) -> &mut Vec<Condition> {
        &mut status.conditions
    }

    async fn write_status(
        context: &Context,
        owner: &Owner,
        error: Option<&Error>,
    ) -> Result<Action, Error> {
        let lock = context.status_locks.of(owner.key());
        let _locked = lock.lock().await;
        // Before the first entry there is nothing to write: that one carries the counts.
        let bind = context.index().find::<Self>(owner.key());
        match bind.filter(|bind| bind.status.is_some()) {
            Some(bind) => write_counts(context, owner, &*bind, error).await,
            None => Ok(Action::AwaitChange),
        }
    }

    /// Removes the finalizer of a Bind that has neither records nor load balancers any more. The removal of
    /// the last of them enqueues it.
    async fn finish_deletion(context: &Context, owner: &Owner) -> Result<Action, Error> {
        let (bind, has_records) = {
            let index = context.index();
            let bind = index.find::<Self>(owner.key());
            (bind, index.records.has_records(owner))
        };
        let is_empty = |bind: &Self| {
            let status = bind.status.as_ref();
            status.is_none_or(|status| status.load_balancer_statuses.is_empty())
        };
        if let Some(bind) = bind
            && !has_records
            && is_empty(&bind)
            && bind.has_finalizer(FINALIZER_LOAD_BALANCER)
        {
            context
                .remove_finalizer(&*bind, FINALIZER_LOAD_BALANCER)
                .await?;
        }
        Ok(Action::AwaitChange)
    }
}

/// A load balancer has backends if it is created, not being deleted, and declared in the spec; one
/// of another driver is another load balancer.
fn use_of(declared: &TargetLoadBalancer, entries: &[TargetLoadBalancerStatus]) -> LoadBalancerUse {
    let mut entries = entries.iter();
    let created = entries.find(|entry| {
        entry.name == declared.name
            && entry.driver == declared.driver
            && entry.deletion_timestamp.is_none()
            && entry.conditions.is_true(condition_types::CREATED)
    });
    let Some(entry) = created else {
        return LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated(None));
    };
    LoadBalancerUse::Usable(UsableLoadBalancer {
        driver: entry.driver.clone(),
        lb_info: entry.lb_info.clone(),
        attributes: entry.last_synced_attributes.clone().unwrap_or_default(),
    })
}

/// Why a load balancer is not ready.
fn problem_of(entry: &TargetLoadBalancerStatus) -> Option<&str> {
    if entry.deletion_timestamp.is_some() {
        return Some("is being deleted");
    }
    let mut problems = [condition_types::CREATED, condition_types::READY].map(|type_| {
        let condition = entry.conditions.find(type_);
        let status = condition.map(|condition| condition.status);
        let message = condition.map_or("", |condition| &condition.message);
        (status != Some(ConditionStatus::True)).then_some(message)
    });
    let problem = problems.iter_mut().find_map(Option::take)?;
    Some(if problem.is_empty() {
        "is not ready"
    } else {
        problem
    })
}

#[cfg(test)]
mod tests;
