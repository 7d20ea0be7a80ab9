//! The resources of this cloud and its API. Each resource is in a resource group, has an etag and tags,
//! and is changed as a whole: read, changed, and put back with the etag that was read.

mod api;
mod checks;
mod error;
mod resources;
mod state;

pub use api::{AzureApi, AzureRequest};
pub use error::AzureError;
pub use resources::{
    AvailabilitySet, Frontend, LoadBalancingRule, Member, Pool, Probe, PublicIp, ResourceId,
    SecurityGroup, SecurityRule, SharedLoadBalancer,
};
pub use state::{AzureLimits, AzureResource, AzureState, Versioned};
