//! The class of Services whose load balancers a driver provides.

use super::{DeregisterPolicy, EnsurePolicy, ServiceMode, StringMap, nullable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which Services of type LoadBalancer a driver serves, and how they become LoadBalancers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceClass {
    /// The class, which Services name in `spec.loadBalancerClass`. Example:
    /// `lbcf.tkestack.io/clb`.
    pub name: String,
    /// Number of LoadBalancers of a Service: `PerPort` (the default), one for each of its ports, or
    /// `PerService`, one for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancers: Option<LoadBalancersOfService>,
    /// `NodePort` (the default) registers the Service's node ports on every node, `Endpoints` the
    /// addresses in its EndpointSlices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ServiceMode>,
    /// `lbSpec` of the LoadBalancers. In its values, `$(namespace)`, `$(name)` and `$(uid)` stand for
    /// those of the Service and, with `PerPort`, `$(port)` and `$(protocol)` for those of the port. A
    /// change applies to LoadBalancers that are created later. Example: `{lbListenerPort: $(port)}`.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub lb_spec: StringMap,
    /// Annotations of the Service that become `attributes` of its LoadBalancers, with the name of the
    /// attribute. Example: `{example.com/bandwidth: max-bandwidth-out}`.
    #[serde(default, with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub attributes: BTreeMap<String, String>,
    /// Fields of the Service's `spec` that become `attributes` of its LoadBalancers, with the name of the
    /// attribute: `externalTrafficPolicy`, `healthCheckNodePort`, `ipFamilies`, `ipFamilyPolicy`,
    /// `loadBalancerIP`, `loadBalancerSourceRanges` and `sessionAffinity`. Items of lists are separated
    /// by commas. Example: `{loadBalancerSourceRanges: allowed-clients}`.
    #[serde(default, with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub service_fields: BTreeMap<String, String>,
    /// `parameters` of the backends, with the same placeholders as `lbSpec`; those of the port can
    /// always be used. Example: `{listenerPort: $(port)}`.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub parameters: StringMap,
    /// `ensurePolicy` of the LoadBalancers and the BackendGroups: with `Always`, a change in the cloud is noticed and
    /// undone. By default it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
    /// `deregisterPolicy` of the BackendGroups; `Webhook` asks the driver of this class. Default `IfNotReady`. Both
    /// this and `minRegistered` are about the mode `Endpoints`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_policy: Option<DeregisterPolicy>,
    /// `minRegistered` of the BackendGroups. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_registered: Option<i32>,
    /// Annotations of the Service that set a policy instead of this class, with the policy: `ensurePolicy` (`Always` or
    /// `IfNotSucc`), `deregisterPolicy` or `minRegistered`. Example: `{example.com/min-registered: minRegistered}`.
    #[serde(default, with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, ClassPolicy>>")]
    pub policy_annotations: BTreeMap<String, ClassPolicy>,
    /// Which keys of `lbInfo` have the address that the Service's status shows. By default it is
    /// `address`, an IP address or a host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<IngressKeys>,
}

/// A policy of a class that a Service may set itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ClassPolicy {
    /// That of the LoadBalancers and the BackendGroups. Its period is the class's.
    EnsurePolicy,
    /// That of the BackendGroups.
    DeregisterPolicy,
    /// That of the BackendGroups.
    MinRegistered,
}

/// Number of LoadBalancers of a Service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LoadBalancersOfService {
    /// One for each port, for clouds in which a LoadBalancer is a listener.
    #[default]
    PerPort,
    /// One for all ports.
    PerService,
}

/// The keys of `lbInfo` that have a load balancer's address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressKeys {
    /// The key whose value is an IP address, or several separated by commas. Example: `vip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// The key whose value is a host name. Example: `domain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
}

impl ServiceClass {
    /// `PerPort` where nothing is set.
    #[must_use]
    pub fn load_balancers(&self) -> LoadBalancersOfService {
        self.load_balancers.unwrap_or_default()
    }

    /// The mode; `NodePort` where none is set.
    #[must_use]
    pub fn mode(&self) -> ServiceMode {
        self.mode.unwrap_or_default()
    }
}
