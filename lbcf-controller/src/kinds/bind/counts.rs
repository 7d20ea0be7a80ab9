//! The counts in a Bind's status (d8).

use super::decide::{ports, usable};
use crate::api::{
    BackendOwner, Bind, BindStatus, Conditions, ObjectExt, TargetLoadBalancerStatus,
    condition_types,
};
use crate::backends::{OwnerCounts, count_of_service, count_units, to_i32};

/// The number of load balancers that have records in this status.
pub(super) fn count_usable(bind: &Bind, status: &BindStatus) -> usize {
    usable(bind, &status.load_balancer_statuses).count()
}

/// The status with current counts. `registered_units` returns how many pods or addresses have at least so
/// many registered records.
pub(super) fn with_counts(
    bind: &Bind,
    mut status: BindStatus,
    counts: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BindStatus {
    if bind.is_deleting() {
        return status;
    }
    let entries = &status.load_balancer_statuses;
    let result = if let Some(service) = bind.service() {
        count_of_service(service.mode(), counts, registered_units)
    } else {
        // A pod has a record for each port at each load balancer.
        let per_pod = ports(bind).len() * counts.load_balancers;
        count_units(counts.pods, per_pod, registered_units)
    };
    let declared = &bind.spec.load_balancers;
    let is_declared =
        |entry: &&TargetLoadBalancerStatus| declared.iter().any(|lb| lb.name == entry.name);
    let ready = entries
        .iter()
        .filter(is_declared)
        .filter(|entry| is_ready(entry));
    let ready = to_i32(ready.count());
    status.load_balancers = to_i32(declared.len());
    status.ready_load_balancers = ready;
    status.backends = to_i32(result.backends);
    status.registered_backends = to_i32(result.registered);
    status
}

fn is_ready(entry: &TargetLoadBalancerStatus) -> bool {
    let is_true = |type_| entry.conditions.is_true(type_);
    entry.deletion_timestamp.is_none()
        && is_true(condition_types::CREATED)
        && is_true(condition_types::READY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{
        BindSpec, Condition, PodSelection, PortSelector, ServiceMode, ServiceSelection,
        TargetLoadBalancer,
    };
    use crate::index::EndpointCounts;
    use jiff::Timestamp;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use lbcf_driver_sdk::webhook::Protocol;

    fn declared(name: &str) -> TargetLoadBalancer {
        TargetLoadBalancer {
            name: name.to_owned(),
            driver: "driver".to_owned(),
            ..TargetLoadBalancer::default()
        }
    }

    fn entry(name: &str, conditions: &[&str]) -> TargetLoadBalancerStatus {
        TargetLoadBalancerStatus {
            name: name.to_owned(),
            driver: "driver".to_owned(),
            conditions: conditions
                .iter()
                .map(|it| Condition::met(it, None))
                .collect(),
            ..TargetLoadBalancerStatus::default()
        }
    }

    fn counts(bind: &Bind, entries: Vec<TargetLoadBalancerStatus>) -> [i32; 4] {
        let status = BindStatus {
            load_balancer_statuses: entries,
            ..BindStatus::default()
        };
        // Three pods, of which two have two records and one has four.
        let registered = |at_least| [2, 2, 4].iter().filter(|n| **n >= at_least).count();
        let counts = OwnerCounts {
            load_balancers: count_usable(bind, &status),
            pods: 3,
            ..OwnerCounts::default()
        };
        let status = with_counts(bind, status, &counts, registered);
        [
            status.load_balancers,
            status.ready_load_balancers,
            status.backends,
            status.registered_backends,
        ]
    }

    fn bind() -> Bind {
        let spec = BindSpec {
            load_balancers: vec![declared("a"), declared("b")],
            pods: Some(PodSelection {
                ports: vec![
                    PortSelector::new(80, Protocol::Tcp),
                    PortSelector::new(81, Protocol::Tcp),
                ],
                ..PodSelection::default()
            }),
            ..BindSpec::default()
        };
        Bind::new("bind", spec)
    }

    #[test]
    fn d8_a_pod_counts_when_each_port_is_registered_at_each_usable_load_balancer() {
        let both = &["Created", "Ready"][..];
        assert_eq!(counts(&bind(), Vec::new()), [2, 0, 3, 0]);
        assert_eq!(counts(&bind(), vec![entry("a", &[])]), [2, 0, 3, 0]);
        // One that is created has records, although its attributes are not synced.
        assert_eq!(
            counts(&bind(), vec![entry("a", &["Created"])]),
            [2, 0, 3, 3]
        );
        assert_eq!(counts(&bind(), vec![entry("a", both)]), [2, 1, 3, 3]);
        let all = vec![entry("a", both), entry("b", both)];
        assert_eq!(counts(&bind(), all), [2, 2, 3, 1]);
    }

    #[test]
    fn d8_d15_a_load_balancer_that_left_the_spec_does_not_count() {
        let both = &["Created", "Ready"][..];
        let mut leaving = entry("gone", both);
        leaving.deletion_timestamp = Some("2026-01-01T00:00:00Z".to_owned());
        let mut unmarked = leaving.clone();
        unmarked.deletion_timestamp = None;
        let entries = vec![entry("a", both), leaving, unmarked];
        assert_eq!(counts(&bind(), entries), [2, 1, 3, 3]);
    }

    #[test]
    fn d8_d77_the_backends_of_a_service_count_as_in_a_group() {
        let of_service = |mode, records, registered, units| {
            let mut bind = bind();
            bind.spec.pods = None;
            bind.spec.service = Some(ServiceSelection {
                mode: Some(mode),
                ..ServiceSelection::default()
            });
            let counts = OwnerCounts {
                load_balancers: 2,
                records,
                registered,
                endpoints: EndpointCounts {
                    units,
                    endpoints: units,
                    unready: 0,
                },
                ..OwnerCounts::default()
            };
            let status = with_counts(&bind, BindStatus::default(), &counts, |_| units - 1);
            [status.backends, status.registered_backends]
        };
        // All nodes are one backend.
        assert_eq!(of_service(ServiceMode::NodePort, 0, 0, 1), [1, 0]);
        assert_eq!(of_service(ServiceMode::NodePort, 4, 3, 1), [1, 0]);
        assert_eq!(of_service(ServiceMode::NodePort, 4, 4, 1), [1, 1]);
        assert_eq!(of_service(ServiceMode::Endpoints, 6, 5, 3), [3, 2]);
        assert_eq!(of_service(ServiceMode::Endpoints, 6, 6, 3), [3, 3]);
    }

    #[test]
    fn b133_the_counts_of_a_bind_that_is_being_deleted_stay() {
        let mut bind = bind();
        bind.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        assert_eq!(counts(&bind, Vec::new()), [0; 4]);
    }
}
