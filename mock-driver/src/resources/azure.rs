//! The resources of the profile `azure`. Each is in a resource group, has an etag and tags, and is
//! changed as a whole: read, changed, and put back with the etag that was read.

mod checks;
mod error;
mod kinds;
mod state;

pub use error::AzureError;
pub use kinds::{
    AvailabilitySet, Frontend, LoadBalancingRule, Member, Pool, Probe, PublicIp, ResourceId,
    SecurityGroup, SecurityRule, SharedLoadBalancer,
};
pub use state::{AzureLimits, AzureRequest, AzureResource, AzureState, Versioned};
