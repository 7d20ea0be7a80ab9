//! Bind: load balancers and pods in one object (b127 to b134).
//!
//! Its pods are handled like those of a group. Each of its [load balancers](load_balancer) is
//! reconciled on its own, so that a slow or failing one delays neither the others nor the pods
//! (u5).

mod counts;
mod decide;
pub(crate) mod load_balancer;
mod reconcile;
mod status;
mod waiting;

pub(crate) use decide::ports;
pub(crate) use reconcile::reconcile;
