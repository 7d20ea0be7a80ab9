//! BackendRecord: one backend at one load balancer.

use super::{AddressFamily, Condition, EnsurePolicy, PortSelector, StringMap, names, nullable};
use kube::{CustomResource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A BackendRecord is the registration of one backend with one load balancer. The controller
/// creates, updates and deletes records; users only read them. What identifies the backend cannot
/// be changed, and other changes are reverted.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "BackendRecord",
    plural = "backendrecords",
    shortname = "br",
    category = "lbcf",
    namespaced,
    status = "BackendRecordStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A BackendRecord is the registration of one backend with one load balancer. The controller creates, updates and deletes records; users only read them. What identifies the backend cannot be changed, and other changes are reverted.",
    printcolumn(name = "LB", type_ = "string", json_path = ".spec.lbName"),
    printcolumn(name = "Pod", type_ = "string", json_path = ".spec.podBackend.name"),
    printcolumn(name = "Addr", type_ = "string", json_path = ".status.backendAddr"),
    printcolumn(
        name = "Registered",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Registered\")].status"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Registered\")].message"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::crd_rules::backend_record)]
pub struct BackendRecordSpec {
    /// Name of the LoadBalancerDriver.
    pub lb_driver: String,
    /// Name of the LoadBalancer, or of the load balancer in a Bind.
    pub lb_name: String,
    /// Identity of the load balancer, copied when the record was created.
    #[serde(default)]
    pub lb_info: StringMap,
    /// Attributes of the load balancer, copied when the record was created or last updated.
    #[serde(default)]
    pub lb_attributes: StringMap,
    /// The pod and port to register. Set for owners that select pods, and for endpoints of a Service
    /// that are pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_backend: Option<PodBackendRecord>,
    /// The node port to register. Set for owners that select the node port of a Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_backend: Option<ServiceBackendRecord>,
    /// The endpoint to register. Set for owners that select the endpoints of a Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_backend: Option<EndpointBackendRecord>,
    /// The address to register. Set for groups with static addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_addr: Option<String>,
    /// Settings of the registration, copied from the BackendGroup or Bind.
    #[serde(default)]
    pub parameters: StringMap,
    /// Determines whether `ensureBackend` is called again while nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

/// A port of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodBackendRecord {
    /// Name of the pod.
    pub name: String,
    /// Port and protocol at the pod.
    pub port: PortSelector,
}

/// A node port of a Service on one node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceBackendRecord {
    /// Name of the Service.
    pub name: String,
    /// Port of the Service that the node port belongs to.
    pub port: PortSelector,
    /// Port on the node that forwards to the Service.
    pub node_port: i32,
    /// Name of the node.
    pub node_name: String,
}

/// An address in the EndpointSlices of a Service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointBackendRecord {
    /// Name of the Service.
    pub service: String,
    /// The endpoint's address, or its domain name.
    pub address: String,
    /// Type of the address: `IPv4`, `IPv6` or `FQDN`.
    pub address_type: AddressFamily,
    /// Port and protocol at the address.
    pub port: PortSelector,
}

impl BackendRecord {
    /// The address that it was created with and the proof that a controller wrote it, if it was created with one.
    pub(crate) fn created_with(&self) -> Option<(&str, &str)> {
        let annotation = self.annotations().get(names::ANNOTATION_ADDRESS)?;
        annotation.rsplit_once(' ')
    }

    /// Completes a status that was not written yet with the address that the record was created with.
    pub(crate) fn read_address(&mut self) {
        let is_stored = |status: &BackendRecordStatus| !status.backend_addr.is_empty();
        if self.status.as_ref().is_some_and(is_stored) {
            return;
        }
        if let Some((address, _)) = self.created_with() {
            let address = address.to_owned();
            self.status.get_or_insert_default().backend_addr = address;
        }
    }
}

/// The observed state of a BackendRecord, written by the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendRecordStatus {
    /// The address that the driver generated. It is stored before `ensureBackend` is called, so
    /// that whatever was registered can be deregistered.
    #[serde(default, with = "nullable", skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub backend_addr: String,
    /// Data that the driver returned from `ensureBackend`; sent with every later call.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub injected_info: StringMap,
    /// `Registered`: whether the backend is registered, and if not, why. `ParametersConflict`: whether
    /// another BackendGroup or Bind registers the same address with other parameters.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}
