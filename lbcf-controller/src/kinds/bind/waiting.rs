//! Why a Bind is not ready (d44). No I/O, no clock.

use super::decide::ports;
use crate::api::{
    BackendOwner, Bind, BindStatus, ConditionStatus, Conditions, TargetLoadBalancerStatus, allowed,
    condition_types, reasons,
};
use crate::backends::{
    OwnerCounts, OwnerView, SelectedService, ServiceWait, selection, some, unfinished,
};
use crate::cluster::{Wait, WaitEvent};

/// What a Bind's backends depend on.
pub(super) struct BindView<'a> {
    pub(super) service: &'a SelectedService,
    pub(super) counts: &'a OwnerCounts,
    pub(super) owner: OwnerView,
}

/// None if all load balancers are ready and all backends registered with them. As in a group's
/// condition, the message has no counts of backends.
pub(super) fn waiting(bind: &Bind, status: &BindStatus, view: &BindView<'_>) -> Option<Wait> {
    let namespace = bind.metadata.namespace.as_deref().unwrap_or_default();
    let is_complete = status.backends > 0 && status.registered_backends >= status.backends;
    let source = || match (bind.pods(), bind.service()) {
        (Some(pods), _) => selection(pods, namespace, !ports(bind).is_empty(), view.counts.pods),
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
        (None, None) => {
            let message = format!("spec: {}", allowed::NEEDS_PODS_OR_SERVICE);
            Some(Wait::new(
                reasons::NO_PODS_SELECTED,
                message,
                WaitEvent::Problem,
            ))
        }
    };
    of_load_balancers(bind, status)
        .or_else(source)
        .or_else(|| (!is_complete).then(|| unfinished(&view.owner)))
}

/// Events about the load balancers report the same.
fn of_load_balancers(bind: &Bind, status: &BindStatus) -> Option<Wait> {
    let problems = bind.spec.load_balancers.iter().filter_map(|lb| {
        let mut entries = status.load_balancer_statuses.iter();
        let entry = entries.find(|entry| entry.name == lb.name);
        let problem = entry.map_or(Some("is not created yet"), problem_of)?;
        Some(format!("{}: {problem}", lb.name))
    });
    let problems: Vec<String> = problems.collect();
    if problems.is_empty() {
        return None;
    }
    Some(Wait::new(
        reasons::LOAD_BALANCERS_NOT_READY,
        some(problems),
        WaitEvent::Elsewhere,
    ))
}

fn problem_of(entry: &TargetLoadBalancerStatus) -> Option<&str> {
    if entry.deletion_timestamp.is_some() {
        return Some("is being deleted");
    }
    let conditions = &entry.conditions;
    let mut problems = [condition_types::CREATED, condition_types::READY].map(|type_| {
        let condition = conditions.find(type_);
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
