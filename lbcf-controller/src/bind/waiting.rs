//! Why a Bind is not ready (d44). No I/O, no clock.

use super::decide::ports;
use crate::api::{
    Bind, BindStatus, ConditionStatus, Conditions, TargetLoadBalancerStatus, condition_types,
    reasons,
};
use crate::backends::{OwnerView, selection, some, unfinished};
use crate::waiting::{Wait, WaitEvent};

/// None if all load balancers are ready and all backends registered with them. As in a group's
/// condition, the message has no counts of backends.
pub(super) fn waiting(bind: &Bind, status: &BindStatus, view: &OwnerView) -> Option<Wait> {
    let namespace = bind.metadata.namespace.as_deref().unwrap_or_default();
    let is_complete = status.backends > 0 && status.registered_backends >= status.backends;
    let pods = usize::try_from(status.backends).unwrap_or_default();
    of_load_balancers(bind, status)
        .or_else(|| selection(&bind.spec.pods, namespace, !ports(bind).is_empty(), pods))
        .or_else(|| (!is_complete).then(|| unfinished(view)))
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
mod tests {
    use super::*;
    use crate::api::{
        BindSpec, Condition, PodSelection, PortSelector, SelectPodByLabel, TargetLoadBalancer,
    };
    use lbcf_driver_sdk::webhook::Protocol;

    fn bind() -> Bind {
        let declared = |name: &str| TargetLoadBalancer {
            name: name.to_owned(),
            ..TargetLoadBalancer::default()
        };
        let spec = BindSpec {
            load_balancers: vec![declared("a"), declared("b")],
            pods: PodSelection {
                ports: vec![PortSelector::new(80, Protocol::Tcp)],
                by_label: Some(SelectPodByLabel::default()),
                ..PodSelection::default()
            },
            ..BindSpec::default()
        };
        Bind::new("bind", spec)
    }

    fn entry(name: &str, conditions: Vec<Condition>) -> TargetLoadBalancerStatus {
        TargetLoadBalancerStatus {
            name: name.to_owned(),
            conditions,
            ..TargetLoadBalancerStatus::default()
        }
    }

    fn is_ready(name: &str) -> TargetLoadBalancerStatus {
        entry(
            name,
            ["Created", "Ready"]
                .map(|it| Condition::met(it, None))
                .to_vec(),
        )
    }

    fn status(entries: Vec<TargetLoadBalancerStatus>, backends: [i32; 2]) -> BindStatus {
        BindStatus {
            load_balancer_statuses: entries,
            backends: backends[0],
            registered_backends: backends[1],
            ..BindStatus::default()
        }
    }

    fn wait(status: &BindStatus, view: &OwnerView) -> Option<(&'static str, String)> {
        let wait = waiting(&bind(), status, view)?;
        Some((wait.reason, wait.message))
    }

    #[test]
    fn d44_a_bind_names_the_load_balancers_that_are_not_ready() {
        let unmet = |type_, message| Condition::unmet(type_, "CreateFailed", message, None);
        let failed = entry("b", vec![unmet("Created", "the quota is used up")]);
        let (reason, message) =
            wait(&status(vec![failed], [1, 0]), &OwnerView::default()).expect("it waits");
        assert_eq!(reason, "LoadBalancersNotReady");
        assert_eq!(message, "a: is not created yet, b: the quota is used up");
        let mut leaving = is_ready("a");
        leaving.deletion_timestamp = Some("2026-01-01T00:00:00Z".to_owned());
        let ensuring = entry(
            "b",
            vec![Condition::met("Created", None), unmet("Ready", "not today")],
        );
        let entries = vec![leaving, ensuring];
        let (_, message) = wait(&status(entries, [1, 1]), &OwnerView::default()).expect("it waits");
        assert_eq!(message, "a: is being deleted, b: not today");
        let bare = vec![is_ready("a"), entry("b", Vec::new())];
        let (_, message) = wait(&status(bare, [1, 1]), &OwnerView::default()).expect("it waits");
        assert_eq!(message, "b: is not ready");
    }

    #[test]
    fn d44_a_bind_whose_load_balancers_are_ready_waits_for_its_backends() {
        let with = |backends, has_unready_pods| {
            let view = OwnerView {
                has_unready_pods,
                ..OwnerView::default()
            };
            let entries = vec![is_ready("a"), is_ready("b")];
            wait(&status(entries, backends), &view).map(|(reason, _)| reason)
        };
        assert_eq!(with([2, 2], false), None);
        assert_eq!(with([0, 0], false), Some("NoPodsSelected"));
        assert_eq!(with([2, 1], true), Some("PodsNotReady"));
        assert_eq!(with([2, 1], false), Some("Registering"));
    }
}
