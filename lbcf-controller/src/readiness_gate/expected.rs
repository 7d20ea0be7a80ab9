//! Which records a pod should have, by the names that they may have. No I/O, no clock.

use crate::api::{BackendGroup, Bind};
use crate::backend_group::{LoadBalancerUse, UnusableLoadBalancer};
use crate::index::PodView;
use crate::object::ObjectExt;
use crate::{backends, bind, names};

/// A record has one of these names.
pub(super) type RecordNames = Vec<String>;

/// The records of a pod that a group selects. Of load balancers that have no backends until a user
/// acts there are none (d69).
pub(super) fn of_group(
    group: &BackendGroup,
    pod: &PodView,
    use_of: impl Fn(&str) -> LoadBalancerUse,
) -> Vec<RecordNames> {
    let Some(selection) = group.spec.pods.as_ref().filter(|_| !group.is_deleting()) else {
        return Vec::new();
    };
    let name = group.metadata.name.as_deref().unwrap_or_default();
    let lbs = group.spec.load_balancer_names();
    let lbs = lbs.filter(|lb| will_have_backends(&use_of(lb)));
    let ports = backends::ports(selection);
    let record = |lb: &str, (port, protocol): &(i32, lbcf_driver_sdk::webhook::Protocol)| {
        names::pod_record_name(lb, name, &pod.uid, *port, protocol.as_str())
    };
    lbs.flat_map(|lb| ports.iter().map(move |port| vec![record(lb, port)]))
        .collect()
}

const fn will_have_backends(lb: &LoadBalancerUse) -> bool {
    match lb {
        LoadBalancerUse::Usable(_) | LoadBalancerUse::Unknown => true,
        LoadBalancerUse::Unusable(why) => matches!(why, UnusableLoadBalancer::NotCreated),
    }
}

/// The records of a pod that a Bind selects.
pub(super) fn of_bind(bind: &Bind, pod: &PodView) -> Vec<RecordNames> {
    if bind.is_deleting() {
        return Vec::new();
    }
    let name = bind.metadata.name.as_deref().unwrap_or_default();
    let ports = bind::ports(bind);
    let lbs = bind.spec.load_balancers.iter();
    let record = |lb: &str, (port, protocol): &(i32, &str)| {
        names::bind_record_names(name, lb, &pod.key.name, &pod.ip, protocol, *port).to_vec()
    };
    lbs.flat_map(|lb| ports.iter().map(|port| record(&lb.name, port)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectKey;
    use serde_json::{Value, json};

    fn pod() -> PodView {
        PodView {
            key: ObjectKey::new("ns", "web-0"),
            uid: "u".into(),
            ip: "10.0.0.1".into(),
            ..PodView::default()
        }
    }

    fn group(meta: Value) -> BackendGroup {
        let mut group = json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "BackendGroup",
            "metadata": {"name": "web", "namespace": "ns"},
            "spec": {
                "loadBalancers": ["created", "new", "gone"],
                "pods": {"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}], "byName": ["web-0"]},
            },
        });
        json_patch::merge(&mut group["metadata"], &meta);
        serde_json::from_value(group).unwrap()
    }

    fn use_of(lb: &str) -> LoadBalancerUse {
        match lb {
            "created" => LoadBalancerUse::Unknown,
            "new" => LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated),
            _ => LoadBalancerUse::Unusable(UnusableLoadBalancer::Missing),
        }
    }

    #[test]
    fn d69_a_group_has_a_record_for_each_port_and_load_balancer_that_will_have_backends() {
        let name = |lb: &str, port: i32, protocol: &str| {
            vec![names::pod_record_name(lb, "web", "u", port, protocol)]
        };
        assert_eq!(
            of_group(&group(json!({})), &pod(), use_of),
            [
                name("created", 80, "TCP"),
                name("created", 53, "UDP"),
                name("new", 80, "TCP"),
                name("new", 53, "UDP"),
            ]
        );
        let deleting = group(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
        assert!(of_group(&deleting, &pod(), use_of).is_empty());
        for (why, expected) in [
            (UnusableLoadBalancer::Missing, 0),
            (UnusableLoadBalancer::Deleting, 0),
            (UnusableLoadBalancer::OutOfScope, 0),
            (UnusableLoadBalancer::NotCreated, 6),
        ] {
            let found = of_group(&group(json!({})), &pod(), |_| {
                LoadBalancerUse::Unusable(why)
            });
            assert_eq!(found.len(), expected, "{why:?}");
        }
    }

    #[test]
    fn d67_a_bind_has_a_record_for_each_port_and_load_balancer() {
        let bind = |meta: Value| -> Bind {
            let mut bind = json!({
                "apiVersion": "lbcf.tkestack.io/v1", "kind": "Bind",
                "metadata": {"name": "web", "namespace": "ns"},
                "spec": {
                    "loadBalancers": [{"name": "a", "driver": "d"}, {"name": "b", "driver": "d"}],
                    "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
                },
            });
            json_patch::merge(&mut bind["metadata"], &meta);
            serde_json::from_value(bind).unwrap()
        };
        let name =
            |lb: &str| names::bind_record_names("web", lb, "web-0", "10.0.0.1", "tcp", 80).to_vec();
        assert_eq!(of_bind(&bind(json!({})), &pod()), [name("a"), name("b")]);
        let deleting = bind(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
        assert!(of_bind(&deleting, &pod()).is_empty());
    }
}
