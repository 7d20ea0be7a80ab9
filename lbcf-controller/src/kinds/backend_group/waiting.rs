//! Why not all backends of a group are registered (d44). No I/O, no clock.

use crate::api::{BackendGroup, BackendGroupStatus, BackendOwner, names, reasons};
use crate::backends::{
    OwnerCounts, OwnerView, SelectedService, ServiceWait, ports, selection, some, unfinished,
};
use crate::cluster::{Wait, WaitEvent};
use crate::index::{LoadBalancerUse, UnusableLoadBalancer};
use std::collections::BTreeMap;

/// What a group's backends depend on.
pub(super) struct GroupView<'a> {
    /// By the names that the group uses.
    pub(super) load_balancers: &'a BTreeMap<String, LoadBalancerUse>,
    pub(super) service: &'a SelectedService,
    pub(super) counts: &'a OwnerCounts,
    pub(super) owner: OwnerView,
}

/// None if all backends are registered with all load balancers. The message has no counts of
/// backends, because the status has them: each count would be a write.
pub(super) fn waiting(
    group: &BackendGroup,
    status: &BackendGroupStatus,
    view: &GroupView<'_>,
) -> Option<Wait> {
    let namespace = group.metadata.namespace.as_deref().unwrap_or_default();
    let is_complete = status.backends > 0 && status.registered_backends >= status.backends;
    let source = || match (group.pods(), group.service()) {
        (Some(pods), _) => selection(pods, namespace, !ports(pods).is_empty(), view.counts.pods),
        (None, Some(selection)) => {
            let wait = ServiceWait {
                selection,
                namespace,
                selected: view.service,
                counts: view.counts,
                owner: &view.owner,
                is_complete,
            };
            wait.find()
        }
        (None, None) if status.backends == 0 => {
            let message = "spec.static has no address";
            Some(Wait::new(
                reasons::NO_ADDRESSES,
                message,
                WaitEvent::Problem,
            ))
        }
        (None, None) => None,
    };
    of_load_balancers(namespace, view)
        .or_else(source)
        .or_else(|| (!is_complete).then(|| unfinished(&view.owner)))
}

fn of_load_balancers(namespace: &str, view: &GroupView<'_>) -> Option<Wait> {
    if view.load_balancers.is_empty() {
        let message = "spec.loadBalancers names no load balancer";
        return Some(Wait::new(
            reasons::NO_LOAD_BALANCERS,
            message,
            WaitEvent::Problem,
        ));
    }
    let problems = view.load_balancers.iter().filter_map(|(name, lb)| {
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

fn problem(lb: &LoadBalancerUse, namespace: &str) -> Option<(&'static str, WaitEvent, String)> {
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
        LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated) => (
            reasons::LOAD_BALANCER_NOT_CREATED,
            WaitEvent::Progress,
            "is not created yet; its condition Created has the reason",
        ),
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
