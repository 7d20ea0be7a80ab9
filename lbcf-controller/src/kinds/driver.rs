//! LoadBalancerDriver: accepting a driver (b100), keeping it as long as it is in use (d32), and knowing
//! whether it is healthy (d50).
//!
//! [`decide`] has the rules and [`reconcile`] carries them out.

mod decide;
mod health;
mod reconcile;

pub(crate) use health::reconcile_health;
pub(crate) use reconcile::reconcile;
