//! Services of type LoadBalancer whose class a driver has (d72 to d74).
//!
//! [`claim`] finds the driver, [`desired`] the LoadBalancers and BackendGroups that a Service should have,
//! [`ingress`] the addresses that its status should show, [`decide`] the writes that are due, until it has
//! them those of [`ensure`], and [`reconcile`] does them.

mod claim;
mod decide;
mod desired;
mod ensure;
mod ingress;
mod reconcile;

pub(crate) use claim::claimant;
pub(crate) use reconcile::reconcile;
