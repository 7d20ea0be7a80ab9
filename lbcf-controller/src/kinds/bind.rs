//! Bind: load balancers and backends in one object (b127 to b134, d77).
//!
//! Its backends are handled like those of a group. Each of its [load balancers](load_balancer) is
//! reconciled on its own, so that a slow or failing one delays neither the others nor the backends
//! (u5).

mod counts;
mod decide;
pub(crate) mod load_balancer;
mod reconcile;
mod records;
mod status;
mod waiting;

pub(crate) use decide::ports;
pub(crate) use reconcile::reconcile;
pub(crate) use records::names_of_pod;
