//! BackendGroup: the records of its backends, and its counts (b106 to b118).

mod decide;
mod observe;
mod reconcile;
mod records;
mod waiting;

pub(crate) use reconcile::reconcile;
pub(crate) use records::{GroupBackend, name as record_name};
