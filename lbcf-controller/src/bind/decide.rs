//! Which records a Bind creates, updates and deletes. No I/O, no clock.

use crate::api::{
    BackendRecord, BackendRecordSpec, Bind, Conditions, EnsurePolicy, PodBackendRecord,
    PortSelector, TargetLoadBalancerStatus, condition_types,
};
use crate::backends::{
    DesiredRecords, Eligibility, RecordPlan, RecordSettings, compare, eligibility_of_pod,
    owner_reference, pod_source, record,
};
use crate::index::PodView;
use crate::names;
use crate::object::ObjectExt;
use crate::verdicts::DeregisterVerdict;
use std::sync::Arc;

/// Some of a Bind's pods, and all their records.
#[derive(Debug)]
pub(crate) struct BindState {
    pub bind: Arc<Bind>,
    pub pods: Vec<Arc<PodView>>,
    pub verdict: Arc<DeregisterVerdict>,
    pub records: Vec<Arc<BackendRecord>>,
}

/// A Bind that is being deleted deletes all its records (b133), because the garbage collector
/// would only do so after the Bind is removed.
pub(crate) fn decide(state: &BindState) -> RecordPlan {
    let bind = &*state.bind;
    let policy = ensure_policy(bind);
    let mut desired = DesiredRecords::default();
    if !bind.is_deleting() {
        let status = bind.status.iter();
        let entries = status.flat_map(|status| &status.load_balancer_statuses);
        for lb in usable(bind, entries) {
            for pod in &state.pods {
                let policy = bind.spec.deregister_policy;
                let eligibility = eligibility_of_pod(pod, policy, &state.verdict);
                for port in ports(bind) {
                    desire(&mut desired, bind, lb, pod, port, eligibility);
                }
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

/// The ports without duplicates. The protocols keep their case, as records' names contain them
/// (b48).
pub(crate) fn ports(bind: &Bind) -> Vec<(i32, &str)> {
    let mut ports: Vec<(i32, &str)> = Vec::new();
    for port in &bind.spec.pods.ports {
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

fn desire(
    desired: &mut DesiredRecords,
    bind: &Bind,
    lb: &TargetLoadBalancerStatus,
    pod: &PodView,
    (port, protocol): (i32, &str),
    eligibility: Eligibility,
) {
    let bind_name = bind.metadata.name.as_deref().unwrap_or_default();
    let [name, other_name] =
        names::bind_record_names(bind_name, &lb.name, &pod.key.name, &pod.ip, protocol, port);
    match eligibility {
        Eligibility::Deregistered => return,
        Eligibility::Kept => {
            desired.kept.insert(name.clone());
        }
        Eligibility::Registered => {
            let spec = BackendRecordSpec {
                lb_driver: lb.driver.clone(),
                lb_name: lb.name.clone(),
                lb_info: lb.lb_info.clone(),
                lb_attributes: lb.last_synced_attributes.clone().unwrap_or_default(),
                pod_backend: Some(PodBackendRecord {
                    name: pod.key.name.to_string(),
                    port: PortSelector {
                        port: Some(port),
                        port_number: None,
                        protocol: Some(protocol.to_owned()),
                    },
                }),
                parameters: bind.spec.parameters.clone(),
                ensure_policy: ensure_policy(bind),
                ..BackendRecordSpec::default()
            };
            let labels = [
                (names::LABEL_BIND_DRIVER, names::label_value(&lb.driver)),
                (names::LABEL_BIND_LB, names::label_value(&lb.name)),
                (names::LABEL_BIND, names::label_value(bind_name)),
                (names::LABEL_BIND_POD, names::label_value(&pod.key.name)),
            ];
            let source = Some(pod_source(pod));
            let record = record(bind, name.clone(), labels, source, spec);
            desired.records.insert(name.clone(), record);
        }
    }
    desired.aliases.insert(other_name, name);
}

/// The other of a record's two possible names, for when another owner's record has the first (u21).
pub(super) fn renamed(record: &BackendRecord, bind: &str, ip: &str) -> String {
    let (lb, pod) = (&record.spec.lb_name, record.spec.pod_backend.as_ref());
    let pod = pod.cloned().unwrap_or_default();
    let protocol = pod.port.protocol.as_deref().unwrap_or_default();
    let [_, other] = names::bind_record_names(bind, lb, &pod.name, ip, protocol, pod.port.number());
    other
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
