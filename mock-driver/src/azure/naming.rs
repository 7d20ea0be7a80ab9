//! Names and tags: by them alone the driver finds again what it has created.

use super::fields::{AzureAttributes, AzureLbSpec};
use crate::resources::azure::ResourceId;
use lbcf_driver_sdk::webhook::StringMap;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

/// The tag of a public IP with the service that owns it, `namespace/name`.
pub(super) const SERVICE_TAG: &str = "service";
/// The tag of a public IP with the frontend that it is for: a service may have several.
pub(super) const FRONTEND_TAG: &str = "frontend";

/// Where the cluster is in the cloud, and what its resources are called.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// Its name, which is that of the primary load balancer.
    pub(super) name: &'static str,
    pub(super) resource_group: &'static str,
    /// The availability set of the primary load balancer.
    pub(super) primary_set: &'static str,
    pub(super) security_group: &'static str,
    pub(super) subnet: &'static str,
}

/// The cluster of [`AzureState::default`](super::AzureState).
pub(super) const CLUSTER: Cluster = Cluster {
    name: "kubernetes",
    resource_group: "kubernetes",
    primary_set: "agentpool1",
    security_group: "kubernetes-nsg",
    subnet: "default",
};

impl Cluster {
    pub(super) fn security_group(&self) -> ResourceId {
        ResourceId::new(self.resource_group, self.security_group)
    }

    /// The name of a set's load balancer: one for the internet and one for the network.
    pub(super) fn load_balancer(&self, set: &str, side: Side) -> String {
        let name = if set == self.primary_set {
            self.name
        } else {
            set
        };
        match side {
            Side::Public => name.to_owned(),
            Side::Internal => format!("{name}-internal"),
        }
    }
}

/// From where a service can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Public,
    Internal,
}

impl Side {
    pub(super) const fn opposite(self) -> Self {
        match self {
            Self::Public => Self::Internal,
            Self::Internal => Self::Public,
        }
    }
}

/// The name of an object's frontend. Objects are named by any text, names in the cloud are not, so it
/// is hashed.
pub(super) fn frontend(object: &str) -> String {
    let digest = Md5::digest(object.as_bytes());
    let hex = digest.iter().map(|byte| format!("{byte:02x}"));
    "a".to_owned() + &hex.collect::<String>()
}

/// The group of a service's load balancer and public IP: the cluster's by default.
pub(super) fn resource_group(attributes: &AzureAttributes) -> &str {
    let named = attributes.azure_load_balancer_resource_group.as_deref();
    named.unwrap_or(CLUSTER.resource_group)
}

/// The tag of a load balancer about one of its frontends, whose name is the tag's key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FrontendTag {
    #[serde(flatten)]
    pub(crate) spec: AzureLbSpec,
    pub(crate) attributes: StringMap,
}

impl FrontendTag {
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
