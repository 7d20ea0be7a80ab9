//! BackendGroup: the records of its backends, and its counts (b106 to b118).

mod decide;
mod load_balancer_use;
mod reconcile;
mod records;
mod waiting;

pub(crate) use load_balancer_use::is_in_scope;
pub(crate) use reconcile::reconcile;
