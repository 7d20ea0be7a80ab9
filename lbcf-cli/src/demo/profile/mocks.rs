//! The mock's clouds.

use super::{LoadBalancers, Profile};
use crate::demo::maps::map;
use lbcf_conformance::fixture::LoadBalancerSample;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::cli::Profile as Mock;

pub(in crate::demo) fn of(mock: Mock) -> Profile {
    match mock {
        Mock::Clb => clb(),
        Mock::Azure => azure(),
    }
}

/// The CLB-like cloud, for which the examples are made.
fn clb() -> Profile {
    Profile {
        load_balancers: None,
        parameters: map([("weight", "50")]),
        updated_parameters: Some(map([("weight", "80")])),
        // More than a load balancer can have.
        refused_parameters: Some(map([("weight", "1000")])),
        bind_parameters: map([("weight", "100")]),
        updated_attributes: Some(map([("max-bandwidth-out", "20")])),
        static_load_balancer: "a load balancer that exists already",
        without: None,
        source: None,
        has_internal: false,
    }
}

/// The Azure-like cloud, whose load balancers services share.
fn azure() -> Profile {
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
        has_internal: true,
    }
}

fn service(name: &str, port: &str, attributes: StringMap) -> LoadBalancerSample {
    let service = format!("my-namespace/{name}");
    LoadBalancerSample {
        lb_spec: map([("service", &service), ("port", port)]),
        attributes,
        reason: String::new(),
    }
}
