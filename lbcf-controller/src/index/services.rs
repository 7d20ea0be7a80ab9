//! Services, reduced to what reconciling needs.

use super::service_load_balancer::ServiceLoadBalancer;
use super::store::{Versioned, version_of};
use crate::api::{ObjectKey, ServicePortSelector, key_of};
use k8s_openapi::api::core::v1::{Service, ServiceSpec, ServiceStatus};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceView {
    pub key: ObjectKey,
    pub version: u64,
    /// Its type is ExternalName: a name in DNS, without endpoints.
    pub is_external_name: bool,
    /// True if the type is NodePort or LoadBalancer.
    pub has_node_ports: bool,
    pub ports: Vec<ServicePortView>,
    pub selector: BTreeMap<String, String>,
    /// `externalTrafficPolicy: Local`: a node forwards only to its own pods.
    pub is_local: bool,
    pub deleting: bool,
    /// None if the Service has, had and may get no load balancer of a class.
    pub load_balancer: Option<Box<ServiceLoadBalancer>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePortView {
    /// Empty if it has none, as the only port of a service may.
    pub name: String,
    pub port: i32,
    pub protocol: String,
    /// 0 if there is none.
    pub node_port: i32,
    /// The port of a pod that it forwards to; none if that is a name, which means another number in
    /// each pod.
    pub target_port: Option<i32>,
}

impl ServiceView {
    pub(crate) fn of(service: &Service) -> Self {
        let (spec, status) = (service.spec.as_ref(), service.status.as_ref());
        Self::new(&service.metadata, spec, status)
    }

    pub(crate) fn new(
        metadata: &ObjectMeta,
        spec: Option<&ServiceSpec>,
        status: Option<&ServiceStatus>,
    ) -> Self {
        let type_ = spec.and_then(|spec| spec.type_.as_deref());
        let ports = spec.and_then(|spec| spec.ports.as_ref());
        Self {
            key: key_of(metadata),
            version: version_of(metadata),
            is_external_name: type_ == Some("ExternalName"),
            has_node_ports: matches!(type_, Some("NodePort" | "LoadBalancer")),
            ports: ports
                .into_iter()
                .flatten()
                .map(|port| ServicePortView {
                    name: port.name.clone().unwrap_or_default(),
                    port: port.port,
                    protocol: port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()),
                    node_port: port.node_port.unwrap_or(0),
                    target_port: match &port.target_port {
                        // Go clients write 0 for an absent number.
                        None | Some(IntOrString::Int(0)) => Some(port.port),
                        Some(IntOrString::Int(number)) => Some(*number),
                        Some(IntOrString::String(text)) => text.parse().ok(),
                    },
                })
                .collect(),
            selector: spec
                .and_then(|spec| spec.selector.clone())
                .unwrap_or_default(),
            is_local: spec.and_then(|spec| spec.external_traffic_policy.as_deref())
                == Some("Local"),
            deleting: metadata.deletion_timestamp.is_some(),
            load_balancer: ServiceLoadBalancer::of(metadata, spec, status),
        }
    }

    /// The port that a group selects, by name or by number.
    pub(crate) fn port(&self, selector: &ServicePortSelector) -> Option<&ServicePortView> {
        let numbered = selector.numbered();
        let (number, protocol) = (numbered.number(), numbered.protocol());
        let mut ports = self.ports.iter();
        match selector.name() {
            Some(name) => ports.find(|port| port.name == name),
            None => ports.find(|port| port.port == number && port.protocol == protocol.as_str()),
        }
    }

    /// The port on each node that forwards to a port of the service (b112).
    pub(crate) fn node_port(&self, port: i32, protocol: &str) -> Option<i32> {
        if self.deleting || !self.has_node_ports {
            return None;
        }
        self.ports
            .iter()
            .find(|known| known.port == port && known.protocol == protocol)
            .map(|known| known.node_port)
            .filter(|node_port| *node_port != 0)
    }

    /// Ignores the version and the fields that concern only the Service's own load balancers: groups
    /// depend on neither.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        let bare = |view: &Self| Self {
            version: 0,
            load_balancer: None,
            ..view.clone()
        };
        bare(self) == bare(other)
    }
}

impl Versioned for ServiceView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

impl ServicePortView {
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol.parse().unwrap_or_default()
    }
}
