//! BackendRecord: registering and deregistering one address.

mod backend;
mod calls;
mod conflict;
mod decide;
mod observe;
mod ownerless;
mod reconcile;
mod report;
mod waiting;

pub(crate) use reconcile::reconcile;
