//! The profile `azure`: a cloud whose load balancers are shared by services, and the driver for it.
//!
//! | | |
//! |---|---|
//! | `cloud` | load balancers, public IPs, security groups and availability sets, with the invariants that the cloud checks |
//! | `fields` | `lbSpec`, `lbInfo`, `attributes` and `parameters` |
//! | `plan` | what each resource should be for a service: pure, one file for each resource |
//! | `select` | which load balancer a service gets: pure |
//! | `driver` | the webhooks, and the order of the steps |
//!
//! Here a service is what one LoadBalancer object asks for: a frontend with one port. The statements a1
//! to a29 are listed in `docs/azure.md`.

mod by_hand;
mod cloud;
mod driver;
mod fields;
mod naming;
mod observe;
mod plan;
mod resource;
mod select;

pub(crate) use by_hand::ByHand;
pub use cloud::{
    AvailabilitySet, AzureApi, AzureError, AzureLimits, AzureRequest, AzureResource, AzureState,
    Frontend, LoadBalancingRule, Member, Pool, Probe, PublicIp, ResourceId, SecurityGroup,
    SecurityRule, SharedLoadBalancer, Versioned,
};
pub use driver::AzureDriver;
pub use fields::{AzureAttributes, AzureLbInfo, AzureLbSpec, AzureParameters};
pub(crate) use observe::observed;

#[cfg(test)]
mod tests;
