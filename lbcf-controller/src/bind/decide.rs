//! Which records a Bind makes, changes and deletes. No I/O, no clock.

use crate::api::{
    BackendRecord, BackendRecordSpec, Bind, BindEnsurePolicy, Conditions, EnsurePolicy,
    PodBackendRecord, PortSelector, TargetLoadBalancerStatus, condition_types,
};
use crate::backends::{
    Expected, Judgement, Plan, Settings, Standing, compare, pod_source, record, standing_of_pod,
};
use crate::index::PodView;
use crate::names;
use std::sync::Arc;

/// What deciding looks at: a part of a Bind's pods, and all their records.
#[derive(Debug)]
pub(crate) struct View {
    /// The Bind.
    pub bind: Arc<Bind>,
    /// Pods that it selects.
    pub pods: Vec<Arc<PodView>>,
    /// What was said of those that are not ready.
    pub judgement: Arc<Judgement>,
    /// The records that it owns.
    pub records: Vec<Arc<BackendRecord>>,
}

/// Decides what is to be done. A Bind that is going takes all its records away (b133): nobody
/// else would before it is gone.
#[must_use]
pub(crate) fn decide(view: &View) -> Plan {
    let bind = &*view.bind;
    let policy = bind.spec.ensure_policy.as_ref().map(ensure_policy);
    let mut expected = Expected::default();
    if bind.metadata.deletion_timestamp.is_none() {
        for lb in usable(bind) {
            for pod in &view.pods {
                let standing = standing_of_pod(pod, bind.spec.deregister_policy, &view.judgement);
                for port in ports(bind) {
                    expect(
                        &mut expected,
                        bind,
                        policy.as_ref(),
                        lb,
                        pod,
                        port,
                        standing,
                    );
                }
            }
        }
    }
    let settings = Settings {
        parameters: &bind.spec.parameters,
        ensure_policy: policy.as_ref(),
    };
    compare(expected, &view.records, settings, |_| false)
}

/// The load balancers that records can be made for (b132): created, to stay, and still the ones
/// that the spec means.
fn usable(bind: &Bind) -> impl Iterator<Item = &TargetLoadBalancerStatus> {
    let there = bind.status.iter();
    there
        .flat_map(|status| &status.load_balancer_statuses)
        .filter(|lb| {
            let mut wanted = bind.spec.load_balancers.iter();
            lb.deletion_timestamp.is_none()
                && lb.conditions.is_true(condition_types::CREATED)
                && wanted.any(|wanted| wanted.name == lb.name && wanted.driver == lb.driver)
        })
}

/// The ports, each once. Their protocols stay as they are written: they are in records' names
/// (b48).
fn ports(bind: &Bind) -> Vec<(i32, &str)> {
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

fn expect(
    expected: &mut Expected,
    bind: &Bind,
    policy: Option<&EnsurePolicy>,
    lb: &TargetLoadBalancerStatus,
    pod: &PodView,
    (port, protocol): (i32, &str),
    standing: Standing,
) {
    let bind_name = bind.metadata.name.as_deref().unwrap_or_default();
    let [name, other_name] =
        names::bind_record_names(bind_name, &lb.name, &pod.key.name, &pod.ip, protocol, port);
    match standing {
        Standing::Unwanted => return,
        Standing::Kept => {
            expected.protected.insert(name.clone());
        }
        Standing::Wanted => {
            let spec = BackendRecordSpec {
                lb_driver: lb.driver.clone(),
                lb_name: lb.name.clone(),
                lb_info: lb.lb_info.clone(),
                lb_attributes: lb.last_synced_attributes.clone().unwrap_or_default(),
                pod_backend: Some(PodBackendRecord {
                    name: pod.key.name.clone(),
                    port: PortSelector {
                        port: Some(port),
                        port_number: None,
                        protocol: Some(protocol.to_owned()),
                    },
                }),
                parameters: bind.spec.parameters.clone(),
                ensure_policy: policy.cloned(),
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
            expected.wanted.insert(name.clone(), record);
        }
    }
    expected.aliases.insert(other_name, name);
}

/// The record under the other of its two names, for where somebody else's record has this one
/// (u21).
#[must_use]
pub(crate) fn renamed(mut created: BackendRecord, bind: &str, ip: &str) -> BackendRecord {
    if let Some(pod) = &created.spec.pod_backend {
        let protocol = pod.port.protocol.as_deref().unwrap_or_default();
        let (lb, port) = (&created.spec.lb_name, pod.port.number());
        let [_, other] = names::bind_record_names(bind, lb, &pod.name, ip, protocol, port);
        created.metadata.name = Some(other);
    }
    created
}

/// A Bind's policy as records have it: `minPeriod` wins over the seconds (b36, d14).
fn ensure_policy(policy: &BindEnsurePolicy) -> EnsurePolicy {
    let seconds = policy
        .resync_period_in_seconds
        .map(|seconds| format!("{seconds}s"));
    EnsurePolicy {
        policy: policy.policy,
        min_period: policy.min_period.clone().or(seconds),
    }
}

/// When a Bind's load balancers are ensured again.
#[must_use]
pub(super) fn load_balancer_policy(bind: &Bind) -> Option<EnsurePolicy> {
    bind.spec.ensure_policy.as_ref().map(ensure_policy)
}

#[cfg(test)]
mod tests;
