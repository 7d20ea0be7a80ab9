//! LoadBalancerDriver: accepting a driver (b100), and keeping it as long as it is in use (d32).
//!
//! [`decide`] has the rules and [`reconcile`] carries them out.

mod decide;
mod protection;
mod reconcile;

pub(crate) use protection::{DriverProtection, protect};
pub(crate) use reconcile::reconcile;
