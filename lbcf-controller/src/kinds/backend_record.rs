//! BackendRecord: registering and deregistering one address (b119 to b126).

mod backend;
mod calls;
mod conflict;
mod decide;
mod endpoint;
mod observe;
mod ownerless;
mod reconcile;
mod report;
mod waiting;

pub(crate) use reconcile::reconcile;
