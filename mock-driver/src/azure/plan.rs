//! The desired state of each resource for one service. Every function is pure: from what is there to what
//! should be there, and the same if nothing is to be done. None depends on another resource but
//! for the address in the security rules.

pub(super) mod load_balancer;
pub(super) mod public_ip;
pub(super) mod security_group;

use super::fields::{AzureAttributes, AzureLbSpec};
use super::naming::Side;
use crate::resources::azure::ResourceId;

/// A service as the plans see it.
#[derive(Debug, Clone)]
pub(super) struct Service {
    /// The name of its frontend, pool, rule, probe and public IP.
    pub(super) frontend: String,
    /// The resource group of its load balancer and public IP.
    pub(super) resource_group: String,
    pub(super) spec: AzureLbSpec,
    pub(super) attributes: AzureAttributes,
}

impl Service {
    pub(super) fn side(&self) -> Side {
        match self.attributes.azure_load_balancer_internal {
            Some(true) => Side::Internal,
            _ => Side::Public,
        }
    }

    pub(super) fn public_ip(&self) -> ResourceId {
        ResourceId::new(&self.resource_group, &self.frontend)
    }
}
