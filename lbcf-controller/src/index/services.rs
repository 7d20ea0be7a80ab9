//! Services, reduced to what reconciling needs.

use super::store::{Versioned, version_of};
use crate::key::{ObjectKey, key_of};
use k8s_openapi::api::core::v1::{Service, ServiceSpec};
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceView {
    pub key: ObjectKey,
    pub version: u64,
    /// Whether its type is NodePort or LoadBalancer (u16).
    pub has_node_ports: bool,
    pub ports: Vec<ServicePortView>,
    pub selector: BTreeMap<String, String>,
    /// `externalTrafficPolicy: Local`: a node forwards only to its own pods.
    pub is_local: bool,
    pub deleting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePortView {
    pub port: i32,
    pub protocol: String,
    /// 0 if there is none.
    pub node_port: i32,
}

impl ServiceView {
    pub(crate) fn of(service: &Service) -> Self {
        Self::new(&service.metadata, service.spec.as_ref())
    }

    pub(crate) fn new(metadata: &ObjectMeta, spec: Option<&ServiceSpec>) -> Self {
        let type_ = spec.and_then(|spec| spec.type_.as_deref());
        let ports = spec.and_then(|spec| spec.ports.as_ref());
        Self {
            key: key_of(metadata),
            version: version_of(metadata),
            has_node_ports: matches!(type_, Some("NodePort" | "LoadBalancer")),
            ports: ports
                .into_iter()
                .flatten()
                .map(|port| ServicePortView {
                    port: port.port,
                    protocol: port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()),
                    node_port: port.node_port.unwrap_or(0),
                })
                .collect(),
            selector: spec
                .and_then(|spec| spec.selector.clone())
                .unwrap_or_default(),
            is_local: spec.and_then(|spec| spec.external_traffic_policy.as_deref())
                == Some("Local"),
            deleting: metadata.deletion_timestamp.is_some(),
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

    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        Self {
            version: 0,
            ..self.clone()
        } == Self {
            version: 0,
            ..other.clone()
        }
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
