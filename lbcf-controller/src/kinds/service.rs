//! Services of type LoadBalancer whose class a driver has.
//!
//! [`desired`] has the LoadBalancers and BackendGroups that a Service should have, [`ingress`] the addresses
//! that its status should show, [`decide`] the writes that are due, [`ensure`] those of them until it has its
//! load balancers, and [`reconcile`] does them.

mod decide;
mod desired;
mod ensure;
mod ingress;
mod reconcile;

pub(crate) use reconcile::reconcile;
