//! LoadBalancerDriver: accepting a driver, keeping it as long as it is in use, and knowing
//! whether it is healthy.
//!
//! [`decide`] has the rules and [`reconcile`] carries them out.

mod decide;
mod reconcile;

pub(crate) use reconcile::reconcile;
pub(crate) use reconcile::reconcile_health;
