//! Manifests of services of type LoadBalancer, and of the class that serves them.

use super::NAMESPACE;
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{IngressKeys, ServiceClass, ServiceMode, StringMap};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The class of the services.
pub const CLASS: &str = "lbcf.tkestack.io/clb";
/// The annotation of a service that becomes the attribute `chargeType`.
pub const CHARGE_TYPE: &str = "clb.example/charge-type";

/// A class whose services have a listener of the mock's cloud for each port.
#[must_use]
pub fn service_class(mode: ServiceMode) -> ServiceClass {
    ServiceClass {
        name: CLASS.to_owned(),
        mode: Some(mode),
        lb_spec: StringMap::from([
            ("lbVpcID", "vpc-12345678"),
            ("lbListenerPort", "$(port)"),
            ("lbListenerProtocol", "$(protocol)"),
        ]),
        attributes: BTreeMap::from([(CHARGE_TYPE.to_owned(), "chargeType".to_owned())]),
        parameters: StringMap::from([("weight", "50")]),
        // The cloud has no addresses.
        ingress: Some(IngressKeys {
            hostname: Some("lbID".to_owned()),
            ip: None,
        }),
        ..ServiceClass::default()
    }
}

/// A service of type LoadBalancer and this class for these ports of the pods with `app: web`.
#[must_use]
pub fn balanced_service(name: &str, class: Option<&str>, ports: &[i32]) -> Service {
    let ports = ports.iter().map(|port| {
        json!({"name": format!("p{port}"), "port": port, "protocol": "TCP", "targetPort": 8080})
    });
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "type": "LoadBalancer", "loadBalancerClass": class, "selector": {"app": "web"},
            "ports": ports.collect::<Value>(),
        },
    }))
    .expect("the manifest is a service")
}
