//! Manifests of Binds.

use super::{DRIVER, NAMESPACE, named};
use lbcf_controller::api::{
    Bind, BindSpec, PodSelection, PortSelector, SelectPodByLabel, ServiceMode, ServicePortSelector,
    ServiceSelection, StringMap, TargetLoadBalancer,
};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// The name of the Bind of [`bind`].
pub const BIND: &str = "web-bind";

/// An entry of a Bind for the driver to create; the attribute `name` identifies it in the cloud.
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

/// A Bind that registers port 80 of the pods with `app: web` at load balancers that are created.
#[must_use]
pub fn bind(name: &str, load_balancers: &[&str]) -> Bind {
    let spec = BindSpec {
        load_balancers: load_balancers.iter().map(|name| target(name)).collect(),
        pods: Some(PodSelection {
            ports: vec![PortSelector::new(80, Protocol::Tcp)],
            by_label: Some(SelectPodByLabel {
                selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
                except: Vec::new(),
            }),
            ..PodSelection::default()
        }),
        parameters: StringMap::from([("weight", "50")]),
        ..BindSpec::default()
    };
    Bind {
        metadata: named(name, Some(NAMESPACE)),
        spec,
        status: None,
    }
}

/// A Bind that registers the node port or the endpoints of port `http` of a service.
#[must_use]
pub fn service_bind(name: &str, service: &str, mode: ServiceMode, load_balancers: &[&str]) -> Bind {
    let mut bind = bind(name, load_balancers);
    bind.spec.pods = None;
    bind.spec.service = Some(ServiceSelection {
        name: service.to_owned(),
        mode: Some(mode),
        port: ServicePortSelector::named("http"),
        ..ServiceSelection::default()
    });
    bind
}
