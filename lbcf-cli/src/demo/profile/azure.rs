//! The mock's Azure-like cloud, whose load balancers services share.

use super::{LoadBalancerFields, LoadBalancers, Profile, map};
use crate::demo::steps::{STEPS, TourStep};
use lbcf_driver_sdk::webhook::StringMap;

/// Those of every profile, and the change between public and internal after the attributes.
const WITH_INTERNAL: &[TourStep] = &{
    let mut steps = [TourStep::Internal; STEPS.len() + 1];
    let (mut at, mut to) = (0, 0);
    while at < STEPS.len() {
        steps[to] = STEPS[at];
        to += 1;
        if matches!(STEPS[at], TourStep::Attributes) {
            to += 1;
        }
        at += 1;
    }
    steps
};

pub(super) fn profile() -> Profile {
    Profile {
        load_balancers: Some(LoadBalancers {
            first: service("my-web", "80", map([("azure-dns-label-name", "my-web")])),
            of_bind: Some([
                service(
                    "by-set",
                    "80",
                    map([("azure-load-balancer-mode", "agentpool2")]),
                ),
                service(
                    "internal",
                    "81",
                    map([("azure-load-balancer-internal", "true")]),
                ),
            ]),
            of_static: Some(service("my-static", "8080", StringMap::new())),
        }),
        parameters: map([("adminState", "None")]),
        updated_parameters: Some(map([("adminState", "Up")])),
        refused_parameters: Some(map([("adminState", "Sideways")])),
        bind_parameters: map([("adminState", "Down")]),
        updated_attributes: Some(map([
            ("azure-allowed-service-tags", "AzureCloud, Storage"),
            ("azure-dns-label-name", "my-web"),
            ("azure-load-balancer-tcp-idle-timeout", "20"),
        ])),
        static_load_balancer: "a second service, whose frontend is on the same load balancer",
        without: Some("no requests are sent: load balancers of this cloud do not forward"),
        source: None,
        steps: WITH_INTERNAL,
    }
}

fn service(name: &str, port: &str, attributes: StringMap) -> LoadBalancerFields {
    let service = format!("my-namespace/{name}");
    LoadBalancerFields {
        lb_spec: map([("service", &service), ("port", port)]),
        attributes,
    }
}
