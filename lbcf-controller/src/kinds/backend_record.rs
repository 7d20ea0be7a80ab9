//! BackendRecord: registering and deregistering one address.

mod backend;
mod calls;
mod conflict;
mod decide;
mod reconcile;
mod report;

pub(crate) use reconcile::reconcile;
