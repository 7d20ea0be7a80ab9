//! Binds.

use super::{DRIVER, NAMESPACE, named};
use lbcf_controller::api::{
    Bind, BindSpec, PodSelection, PortSelector, SelectPodByLabel, StringMap, TargetLoadBalancer,
};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// The Bind.
pub const BIND: &str = "web-bind";

/// A load balancer of a Bind that is to be made. In the cloud it is known by the attribute `name`.
#[must_use]
pub fn target(name: &str) -> TargetLoadBalancer {
    TargetLoadBalancer {
        name: name.to_owned(),
        driver: DRIVER.to_owned(),
        spec: StringMap::from([
            ("lbVpcID", "vpc-12345678"),
            ("lbListenerPort", "80"),
            ("lbListenerProtocol", "TCP"),
        ]),
        attributes: StringMap::from([("name", name)]),
    }
}

/// A Bind of the pods with `app: web` to load balancers that are to be made.
#[must_use]
pub fn bind(name: &str, load_balancers: &[&str]) -> Bind {
    let spec = BindSpec {
        load_balancers: load_balancers.iter().map(|name| target(name)).collect(),
        pods: PodSelection {
            ports: vec![PortSelector::new(80, Protocol::Tcp)],
            by_label: Some(SelectPodByLabel {
                selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
                except: Vec::new(),
            }),
            ..PodSelection::default()
        },
        parameters: StringMap::from([("weight", "50")]),
        ..BindSpec::default()
    };
    Bind {
        metadata: named(name, Some(NAMESPACE)),
        spec,
        status: None,
    }
}
