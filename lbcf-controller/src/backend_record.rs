//! BackendRecord: registering and deregistering one address (b119 to b126).

mod backend;
mod conflict;
mod decide;
mod endpoint;
mod ownerless;
mod reconcile;
mod waiting;

pub(crate) use reconcile::reconcile;
