//! Which records a Bind creates, updates and deletes. No I/O, no clock.

use super::records;
use crate::api::{
    BackendOwner, BackendRecord, Bind, Conditions, EnsurePolicy, ObjectExt, ObjectKey,
    TargetLoadBalancerStatus, condition_types,
};
use crate::backends::{
    DesiredRecords, Eligibility, RecordPlan, RecordSettings, ServiceCandidates, compare,
    eligibility_of_pod, owner_reference,
};
use crate::index::{Owner, PodView};
use crate::runtime::verdicts::DeregisterVerdict;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Some of a Bind's backends, and all their records.
#[derive(Debug)]
pub(crate) struct BindState {
    pub bind: Arc<Bind>,
    pub candidates: BindCandidates,
    pub records: Vec<Arc<BackendRecord>>,
}

/// What the backends may consist of.
#[derive(Debug)]
pub(crate) enum BindCandidates {
    Pods(Vec<Arc<PodView>>, Arc<DeregisterVerdict>),
    Service(ServiceCandidates),
}

/// A Bind that is being deleted deletes all its records (b133), because the garbage collector
/// would only do so after the Bind is removed.
pub(crate) fn decide(state: &BindState) -> RecordPlan {
    let bind = &*state.bind;
    let policy = ensure_policy(bind);
    let mut desired = DesiredRecords::default();
    if !bind.is_deleting() {
        let lbs: Vec<_> = usable(bind, entries(bind)).collect();
        match &state.candidates {
            BindCandidates::Pods(pods, verdict) => {
                desire_pods(&mut desired, bind, &lbs, pods, verdict);
            }
            BindCandidates::Service(candidates) => {
                desired.kept = awaited(&lbs, candidates, &state.records);
                desire_service(&mut desired, bind, &lbs, candidates);
            }
        }
    }
    let owner = owner_reference(bind);
    let settings = RecordSettings {
        owner: owner.as_ref(),
        parameters: &bind.spec.parameters,
        ensure_policy: policy.as_ref(),
    };
    compare(desired, &state.records, settings, |_| false)
}

fn desire_pods(
    desired: &mut DesiredRecords,
    bind: &Bind,
    lbs: &[&TargetLoadBalancerStatus],
    pods: &[Arc<PodView>],
    verdict: &DeregisterVerdict,
) {
    for (lb, pod) in lbs
        .iter()
        .flat_map(|lb| pods.iter().map(move |pod| (lb, pod)))
    {
        let eligibility = eligibility_of_pod(pod, bind.spec.deregister_policy, verdict);
        for port in ports(bind) {
            let [name, other_name] = records::names_of_pod(bind, &lb.name, pod, port);
            match eligibility {
                Eligibility::Deregistered => continue,
                Eligibility::Kept => drop(desired.kept.insert(name.clone())),
                Eligibility::Registered => {
                    let record = records::of_pod(bind, name.clone(), lb, pod, port);
                    desired.records.insert(name.clone(), record);
                }
            }
            desired.aliases.insert(other_name, name);
        }
    }
}

fn desire_service(
    desired: &mut DesiredRecords,
    bind: &Bind,
    lbs: &[&TargetLoadBalancerStatus],
    candidates: &ServiceCandidates,
) {
    let Some(selection) = bind.service() else {
        return;
    };
    let owner = Owner::Bind(ObjectKey::of(bind));
    let backends = candidates.backends(selection, bind.spec.deregister_policy);
    for lb in lbs {
        for (backend, eligibility) in &backends {
            let name = backend.record_name(&owner, &lb.name);
            match eligibility {
                Eligibility::Registered => {
                    let record = records::of_service(bind, name.clone(), lb, backend);
                    desired.records.insert(name, record);
                }
                Eligibility::Kept => drop(desired.kept.insert(name)),
                Eligibility::Deregistered => {}
            }
        }
    }
}

/// The records that are kept because their endpoints may come back.
fn awaited(
    lbs: &[&TargetLoadBalancerStatus],
    candidates: &ServiceCandidates,
    records: &[Arc<BackendRecord>],
) -> BTreeSet<String> {
    candidates.awaited(records, |record| {
        let spec = &record.spec;
        lbs.iter().any(|lb| {
            lb.name == spec.lb_name && lb.lb_info == spec.lb_info && lb.driver == spec.lb_driver
        })
    })
}

fn entries(bind: &Bind) -> impl Iterator<Item = &TargetLoadBalancerStatus> {
    let status = bind.status.iter();
    status.flat_map(|status| &status.load_balancer_statuses)
}

/// The load balancers that have records (b132): they are created, not being deleted, and declared
/// in the spec.
pub(super) fn usable<'a>(
    bind: &'a Bind,
    entries: impl IntoIterator<Item = &'a TargetLoadBalancerStatus>,
) -> impl Iterator<Item = &'a TargetLoadBalancerStatus> {
    entries.into_iter().filter(|lb| {
        let mut declared = bind.spec.load_balancers.iter();
        lb.deletion_timestamp.is_none()
            && lb.conditions.is_true(condition_types::CREATED)
            && declared.any(|declared| declared.name == lb.name && declared.driver == lb.driver)
    })
}

/// The ports of pods without duplicates. The protocols keep their case, as records' names contain them
/// (b48).
pub(crate) fn ports(bind: &Bind) -> Vec<(i32, &str)> {
    let mut ports: Vec<(i32, &str)> = Vec::new();
    let selected = bind.spec.pods.iter().flat_map(|pods| &pods.ports);
    for port in selected {
        let (number, protocol) = (port.number(), port.protocol.as_deref().unwrap_or("TCP"));
        let is_known = ports.iter().any(|(known, known_protocol)| {
            *known == number && known_protocol.eq_ignore_ascii_case(protocol)
        });
        if number > 0 && !is_known {
            ports.push((number, protocol));
        }
    }
    ports
}

/// The policy of a Bind's records and load balancers: `minPeriod` takes precedence over the seconds
/// (b36, d14).
pub(super) fn ensure_policy(bind: &Bind) -> Option<EnsurePolicy> {
    let policy = bind.spec.ensure_policy.as_ref()?;
    let seconds = policy.resync_period_in_seconds;
    let seconds = seconds.map(|seconds| format!("{seconds}s"));
    Some(EnsurePolicy {
        policy: policy.policy,
        min_period: policy.min_period.clone().or(seconds),
    })
}

#[cfg(test)]
mod tests;
