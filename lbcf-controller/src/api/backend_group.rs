//! BackendGroup: backends and the load balancers that they are registered with.

use super::{Condition, EnsurePolicy, PortSelector, ServicePortSelector, StringMap, nullable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A BackendGroup registers backends with load balancers: pods, the node port or the endpoints of a
/// Service, or static addresses.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "BackendGroup",
    plural = "backendgroups",
    shortname = "bg",
    category = "lbcf",
    namespaced,
    status = "BackendGroupStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A BackendGroup registers backends with load balancers: pods, the node port or the endpoints of a Service, or static addresses.",
    printcolumn(
        name = "LoadBalancers",
        type_ = "string",
        json_path = ".spec.loadBalancers"
    ),
    printcolumn(name = "Backends", type_ = "integer", json_path = ".status.backends"),
    printcolumn(
        name = "Registered",
        type_ = "integer",
        json_path = ".status.registeredBackends"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].message"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::crd_rules::backend_group)]
pub struct BackendGroupSpec {
    /// Names of LoadBalancers; backends are registered with each of them. A name that starts with
    /// `lbcf-` refers to a shared LoadBalancer in kube-system, any other to this namespace.
    /// Example: `[my-lb, lbcf-shared-lb]`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub load_balancers: Vec<String>,
    /// Name of a single LoadBalancer, kept for older manifests. Ignored where `loadBalancers` is
    /// set; use that instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lb_name: Option<String>,
    /// Registers pods. Exactly one of `pods`, `service` and `static` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodSelection>,
    /// Registers the node port of a Service on every selected node or, in the mode `Endpoints`, the
    /// endpoints of a Service. Exactly one of `pods`, `service` and `static` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSelection>,
    /// Registers these addresses. The driver receives them unchanged and defines their format.
    /// Example: `["10.0.0.7:8080"]`. Exactly one of `pods`, `service` and `static` is set.
    #[serde(
        rename = "static",
        default,
        with = "nullable",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub static_addresses: Vec<String>,
    /// Settings of each registration. The driver defines the keys and values. Example:
    /// `{weight: "50"}`.
    #[serde(default)]
    pub parameters: StringMap,
    /// Determines when a pod that is not Ready is deregistered: `IfNotReady` (the default),
    /// `IfNotRunning` or `Webhook`. A pod that is being deleted is always deregistered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_policy: Option<DeregisterPolicy>,
    /// Number of pods or endpoints that stay registered although they are not Ready, when fewer would be left
    /// otherwise. It is about readiness alone: pods that are deleted or have ended, and those that are not
    /// selected any more, are deregistered all the same. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_registered: Option<i32>,
    /// The driver that decides about pods that are not Ready. Required where `deregisterPolicy` is
    /// `Webhook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_webhook: Option<DeregisterWebhook>,
    /// Determines whether `ensureBackend` is called again while nothing has changed. By default it
    /// is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

impl BackendGroupSpec {
    /// The ports of its pods, in whichever field they are.
    pub(crate) fn pod_ports(&self) -> Vec<&PortSelector> {
        let pods = self.pods.iter();
        let ports = pods.flat_map(|pods| {
            let earlier = pods.port.iter().filter(|_| pods.ports.is_empty());
            pods.ports.iter().chain(earlier)
        });
        ports.collect()
    }

    pub(crate) fn static_addresses(&self) -> &[String] {
        &self.static_addresses
    }

    pub(crate) fn min_registered(&self) -> usize {
        let number = self.min_registered.unwrap_or_default();
        number.try_into().unwrap_or_default()
    }

    pub(crate) fn ensure_policy(&self) -> Option<EnsurePolicy> {
        self.ensure_policy.clone()
    }

    /// The names of the load balancers without duplicates; `lbName` counts only where
    /// `loadBalancers` is empty.
    pub fn load_balancer_names(&self) -> impl Iterator<Item = &str> {
        let legacy = self
            .lb_name
            .as_ref()
            .filter(|_| self.load_balancers.is_empty());
        let names = self.load_balancers.iter().chain(legacy).map(String::as_str);
        let mut seen = std::collections::HashSet::new();
        names.filter(move |name| seen.insert(*name))
    }
}

/// Selects pods, by label or by name, and the ports to register.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSelection {
    /// Ports to register of every selected pod. Example: `[{port: 80, protocol: TCP}]`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<PortSelector>>")]
    pub ports: Vec<PortSelector>,
    /// A single port, kept for older manifests. Ignored where `ports` is set; use that instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<PortSelector>,
    /// Selects pods by label. Either this or `byName` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_label: Option<SelectPodByLabel>,
    /// Selects pods by name, such as those of a StatefulSet. Either this or `byLabel` is set.
    /// Example: `[web-0, web-1]`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub by_name: Vec<String>,
}

impl PodSelection {
    /// True if it selects the pod of its namespace with this name and these labels. An empty selector selects nothing;
    /// labels take precedence over names.
    #[must_use]
    pub fn selects(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        let Some(by_label) = &self.by_label else {
            return self.by_name.iter().any(|selected| selected == name);
        };
        let mut wanted = by_label.selector.iter();
        !by_label.selector.is_empty()
            && wanted.all(|(label, value)| labels.get(label) == Some(value))
            && !by_label.except.iter().any(|except| except == name)
    }
}

/// Selects pods by label, except those listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// Unknown fields are preserved for admission, which explains that labels belong into the selector.
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-kubernetes-validations" = super::crd_rules::select_by_label()
))]
pub struct SelectPodByLabel {
    /// Labels that a pod must have, all of them. Example: `{app: web}`.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub selector: BTreeMap<String, String>,
    /// Names of pods that are not selected although their labels match. A registered pod that is
    /// added here is deregistered.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub except: Vec<String>,
}

/// Selects a port of a Service, and the nodes or endpoints that are registered for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSelection {
    /// Name of a Service in the same namespace; in the mode `NodePort` one of type NodePort or
    /// LoadBalancer.
    pub name: String,
    /// `NodePort` (the default) registers the Service's node port on every selected node, `Endpoints`
    /// the addresses in the Service's EndpointSlices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ServiceMode>,
    /// Port of the Service, as in its `spec.ports`, by number or by name. Examples: `{port: 80}`,
    /// `{name: http}`.
    pub port: ServicePortSelector,
    /// Labels that a node must have, only in the mode `NodePort`. Empty, the default, selects all
    /// nodes.
    #[serde(default, with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub node_selector: BTreeMap<String, String>,
    /// Types of the EndpointSlices whose endpoints are registered, only in the mode `Endpoints`:
    /// `IPv4`, `IPv6` and `FQDN`. Default: `[IPv4, IPv6]`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<AddressFamily>>")]
    pub address_families: Vec<AddressFamily>,
    /// Zones whose endpoints are registered, only in the mode `Endpoints`. An endpoint belongs to the
    /// zones of its hints or, without hints, to the zone that it is in. Empty, the default, selects
    /// all endpoints. Example: `[zone-a]`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub zones: Vec<String>,
}

impl ServiceSelection {
    /// The mode; `NodePort` where none is set.
    #[must_use]
    pub fn mode(&self) -> ServiceMode {
        self.mode.unwrap_or_default()
    }

    /// True where endpoints in slices of this type are registered.
    #[must_use]
    pub fn takes_family(&self, family: AddressFamily) -> bool {
        if self.address_families.is_empty() {
            return family != AddressFamily::Fqdn;
        }
        self.address_families.contains(&family)
    }
}

/// The backends that a Service stands for: its node port, or its endpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ServiceMode {
    /// Registers the Service's node port on every selected node.
    #[default]
    NodePort,
    /// Registers the addresses in the Service's EndpointSlices.
    Endpoints,
}

/// The type of the addresses in an EndpointSlice.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum AddressFamily {
    /// Addresses of four bytes, such as 192.0.2.1.
    #[default]
    IPv4,
    /// Addresses of sixteen bytes, such as 2001:db8::1.
    IPv6,
    /// Fully qualified domain names, such as db.example.com.
    #[serde(rename = "FQDN")]
    Fqdn,
}

impl AddressFamily {
    /// The name in EndpointSlices.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IPv4 => "IPv4",
            Self::IPv6 => "IPv6",
            Self::Fqdn => "FQDN",
        }
    }
}

/// When a pod that is not Ready is deregistered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeregisterPolicy {
    /// Deregisters a pod whose condition Ready is not True.
    #[default]
    IfNotReady,
    /// Deregisters a pod whose phase is not Running.
    IfNotRunning,
    /// Deregisters a pod unless the driver of `deregisterWebhook` keeps it.
    Webhook,
}

/// The driver that decides about pods that are not Ready, by its webhook `judgePodDeregister`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeregisterWebhook {
    /// Name of a LoadBalancerDriver. A name that starts with `lbcf-` refers to kube-system.
    pub driver_name: String,
    /// Applies where the driver cannot be called or fails: `DoNothing` (the default), `IfNotReady`
    /// or `IfNotRunning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
}

/// The policy where the driver that decides cannot be called or fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailurePolicy {
    /// Keeps every pod registered.
    #[default]
    DoNothing,
    /// Deregisters pods whose condition Ready is not True.
    IfNotReady,
    /// Deregisters pods whose phase is not Running.
    IfNotRunning,
}

/// The observed state of a BackendGroup, written by the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendGroupStatus {
    /// Number of selected backends: pods, addresses of endpoints, 1 for the node port of a Service, or
    /// static addresses.
    #[serde(default)]
    pub backends: i32,
    /// Number of backends whose registrations are all done. Equal to `backends` when the group is
    /// done.
    #[serde(default)]
    pub registered_backends: i32,
    /// Number of desired BackendRecords: one for each backend, port and load balancer.
    #[serde(default)]
    pub records: i32,
    /// Number of BackendRecords that are registered.
    #[serde(default)]
    pub registered_records: i32,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: all backends are registered with all load balancers, and if not, why.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}
