//! The driver for the profile `azure`, whose load balancers are shared by services.
//!
//! | | |
//! |---|---|
//! | `fields` | `lbSpec`, `lbInfo`, `attributes` and `parameters` |
//! | `plan` | what each resource should be for a service: pure, one file for each resource |
//! | `select` | which load balancer a service gets: pure |
//! | `driver` | the webhooks, and the order of the steps |
//!
//! Here a service is what one LoadBalancer object asks for: a frontend with one port. The statements a1
//! to a29 are listed in `docs/azure.md`.

mod driver;
mod fields;
mod naming;
mod plan;
mod resource;
mod select;

pub use crate::cloud::AzureApi;
pub use crate::resources::azure::{
    AvailabilitySet, AzureError, AzureLimits, AzureRequest, AzureResource, AzureState, Frontend,
    LoadBalancingRule, Member, Pool, Probe, PublicIp, ResourceId, SecurityGroup, SecurityRule,
    SharedLoadBalancer, Versioned,
};
pub use driver::AzureDriver;
pub use fields::{AzureAttributes, AzureLbInfo, AzureLbSpec, AzureParameters};
pub(crate) use naming::FrontendTag;

#[cfg(test)]
mod tests;
