//! The types of the fields: what users write, and what the driver returns.
//!
//! The attributes have the names of Azure's annotations without `service.beta.kubernetes.io/`.

use crate::checked::{checked, whole};
use lbcf_driver_sdk::webhook::{Protocol, StringMap};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// The minutes that a connection may be idle.
const IDLE_MINUTES: std::ops::RangeInclusive<u8> = 4..=30;

/// `lbSpec`: a service with one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AzureLbSpec {
    /// The service, `namespace/name`: the owner in the tags of what is created.
    pub service: ServiceName,
    /// The port of the frontend, 1 to 65535.
    pub port: NonZeroU16,
    /// `TCP`, the default, or `UDP`.
    #[serde(default)]
    pub protocol: FrontendProtocol,
}

/// `lbInfo`: a frontend, which stays the same when it moves to another load balancer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureLbInfo {
    /// The name of the frontend, and of its pool, rule, probe and public IP.
    pub frontend: String,
    /// The resource group of the load balancer and the public IP.
    pub resource_group: String,
    /// That of `lbSpec`.
    pub service: ServiceName,
    /// That of `lbSpec`.
    pub port: NonZeroU16,
    /// That of `lbSpec`.
    #[serde(default)]
    pub protocol: FrontendProtocol,
    /// The IP address, when it was created.
    #[serde(default)]
    pub address: String,
}

/// `attributes`: settings that may change, except for the resource group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct AzureAttributes {
    /// True if it is reached from the network alone; false by default.
    pub azure_load_balancer_internal: Option<bool>,
    /// The subnet of an internal frontend.
    pub azure_load_balancer_internal_subnet: Option<String>,
    /// The availability sets whose load balancers are considered: the primary one by default, `auto`
    /// (or `__auto__`) for all, or names separated by commas.
    pub azure_load_balancer_mode: Option<String>,
    /// The first label of the domain name of the public IP.
    pub azure_dns_label_name: Option<DnsLabel>,
    /// True if security rules are shared with other services, which saves rules.
    pub azure_shared_securityrule: Option<bool>,
    /// The resource group of the load balancer and the public IP.
    pub azure_load_balancer_resource_group: Option<String>,
    /// The service tags that are admitted, separated by commas; all clients by default.
    pub azure_allowed_service_tags: Option<String>,
    /// After how many minutes an idle connection ends: 4, the default, to 30.
    pub azure_load_balancer_tcp_idle_timeout: Option<IdleTimeout>,

    /// All others, which are kept as they are.
    #[serde(flatten)]
    pub others: StringMap,
}

/// `parameters`: how a backend is registered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureParameters {
    /// `None`, the default: probes decide; `Up` or `Down`: always or never gets new connections.
    pub admin_state: Option<AdminState>,

    /// All others, which are kept as they are.
    #[serde(flatten)]
    pub others: StringMap,
}

/// Decides whether a backend gets new connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum AdminState {
    /// Probes.
    None,
    /// It does.
    Up,
    /// It does not.
    Down,
}

/// The protocols that a frontend can listen for.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum FrontendProtocol {
    /// Connections.
    #[default]
    Tcp,
    /// Datagrams.
    Udp,
}

impl AzureLbInfo {
    pub(crate) fn new(
        frontend: String,
        resource_group: String,
        spec: AzureLbSpec,
        address: String,
    ) -> Self {
        Self {
            frontend,
            resource_group,
            service: spec.service,
            port: spec.port,
            protocol: spec.protocol,
            address,
        }
    }

    /// The part that the user has written.
    pub(crate) fn spec(&self) -> AzureLbSpec {
        AzureLbSpec {
            service: self.service.clone(),
            port: self.port,
            protocol: self.protocol,
        }
    }
}

impl From<FrontendProtocol> for Protocol {
    fn from(protocol: FrontendProtocol) -> Self {
        match protocol {
            FrontendProtocol::Tcp => Self::Tcp,
            FrontendProtocol::Udp => Self::Udp,
        }
    }
}

checked!(
    /// A service as `namespace/name`.
    ServiceName,
    |text: &str| {
        let parts = text.split_once('/');
        parts.is_some_and(|(namespace, name)| is_name(namespace) && is_name(name))
    },
    "not of the form namespace/name"
);

checked!(
    /// A label of a domain name.
    DnsLabel,
    |text: &str| {
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        let ends = !text.ends_with('-') && !text.contains('.');
        begins && ends && (3..=63).contains(&text.len()) && is_name(text)
    },
    "not a label of 3 to 63 lower-case letters, digits and hyphens that begins with a letter"
);

fn is_name(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    !text.is_empty() && text.len() <= 253 && text.chars().all(is_allowed)
}

/// Minutes, a whole number from 4 to 30.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
pub struct IdleTimeout(u8);

impl TryFrom<String> for IdleTimeout {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let minutes = whole(&text, IDLE_MINUTES).map(Self);
        minutes.ok_or("not a whole number of minutes from 4 to 30")
    }
}

impl AzureAttributes {
    pub(super) fn idle_minutes(&self) -> u8 {
        let minutes = self.azure_load_balancer_tcp_idle_timeout;
        minutes.map_or(*IDLE_MINUTES.start(), |IdleTimeout(minutes)| minutes)
    }

    /// The service tags that are admitted.
    pub(super) fn allowed_tags(&self) -> Vec<&str> {
        list(self.azure_allowed_service_tags.as_deref())
    }
}

/// The items of a list separated by commas.
pub(super) fn list(text: Option<&str>) -> Vec<&str> {
    let items = text.unwrap_or_default().split(',').map(str::trim);
    items.filter(|item| !item.is_empty()).collect()
}
