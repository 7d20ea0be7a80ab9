//! The objects of the tests: a driver, a load balancer, a group, pods, a service and a Bind.

mod bind;
mod service;
mod service_class;

pub use bind::{BIND, bind, service_bind, target};
pub use service::{
    EXCLUDED_FROM_LOAD_BALANCERS, SERVICE, endpoint_group, endpoint_slice, endpoints, node,
    node_status, service, service_group, service_without_selector,
};

pub use service_class::{CHARGE_TYPE, CLASS, balanced_service, service_class};

use k8s_openapi::api::core::v1::{Namespace, Pod, PodReadinessGate};
use kube::api::ObjectMeta;
use lbcf_controller::api::{
    BackendGroup, BackendGroupSpec, LoadBalancer, LoadBalancerDriver, LoadBalancerDriverSpec,
    LoadBalancerSpec, PodSelection, PortSelector, SelectPodByLabel, StringMap,
};
use lbcf_controller::names::READINESS_GATE;
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::json;
use std::collections::BTreeMap;

/// The namespace of all objects except the driver.
pub const NAMESPACE: &str = "lbcf-e2e-web";
/// The namespace of the driver, which all namespaces may use.
pub const SYSTEM: &str = "kube-system";
/// The name of the driver.
pub const DRIVER: &str = "lbcf-clb";
/// The name of a driver in [`NAMESPACE`], for that namespace only.
pub const OWN_DRIVER: &str = "clb";
/// The names and addresses of the nodes that every world has.
pub const NODES: [(&str, &str); 2] = [
    ("lbcf-e2e-1", "192.168.100.11"),
    ("lbcf-e2e-2", "192.168.100.12"),
];
/// The name of the load balancer of [`load_balancer`].
pub const LB: &str = "web-lb";
/// The name of the group of [`group`].
pub const GROUP: &str = "web-group";

/// A Namespace object of this name.
#[must_use]
pub fn namespace(name: &str) -> Namespace {
    Namespace {
        metadata: named(name, None),
        ..Namespace::default()
    }
}

/// A LoadBalancerDriver that is served at this URL.
#[must_use]
pub fn driver(url: &str) -> LoadBalancerDriver {
    let spec = LoadBalancerDriverSpec {
        driver_type: "Webhook".into(),
        url: url.into(),
        ..LoadBalancerDriverSpec::default()
    };
    LoadBalancerDriver {
        metadata: named(DRIVER, Some(SYSTEM)),
        spec,
        status: None,
    }
}

/// A load balancer for the driver to create in the cloud.
#[must_use]
pub fn load_balancer(name: &str) -> LoadBalancer {
    let spec = LoadBalancerSpec {
        lb_driver: DRIVER.into(),
        lb_spec: StringMap::from([
            ("lbVpcID", "vpc-12345678"),
            ("lbListenerPort", "80"),
            ("lbListenerProtocol", "TCP"),
        ]),
        attributes: StringMap::from([("chargeType", "TRAFFIC_POSTPAID_BY_HOUR")]),
        ..LoadBalancerSpec::default()
    };
    LoadBalancer {
        metadata: named(name, Some(NAMESPACE)),
        spec,
        status: None,
    }
}

/// A group that registers port 80 of the pods with `app: web` at these load balancers, with weight 50.
#[must_use]
pub fn group(name: &str, load_balancers: &[&str]) -> BackendGroup {
    let spec = BackendGroupSpec {
        load_balancers: load_balancers.iter().map(|&name| name.to_owned()).collect(),
        pods: Some(PodSelection {
            ports: vec![PortSelector::new(80, Protocol::Tcp)],
            by_label: Some(SelectPodByLabel {
                selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
                except: Vec::new(),
            }),
            ..PodSelection::default()
        }),
        parameters: StringMap::from([("weight", "50")]),
        ..BackendGroupSpec::default()
    };
    BackendGroup {
        metadata: named(name, Some(NAMESPACE)),
        spec,
        status: None,
    }
}

/// A pod with `app: web`.
#[must_use]
pub fn pod(name: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
    }))
    .expect("the manifest is a pod")
}

/// The pod with the readiness gate of the controller.
#[must_use]
pub fn gated(mut pod: Pod) -> Pod {
    let gate = PodReadinessGate {
        condition_type: READINESS_GATE.to_owned(),
    };
    let spec = pod.spec.get_or_insert_default();
    spec.readiness_gates.get_or_insert_default().push(gate);
    pod
}

fn named(name: &str, namespace: Option<&str>) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        ..ObjectMeta::default()
    }
}
