//! BackendRecord: registering and deregistering one address.

mod backend;
mod calls;
mod conflict;
mod decide;
mod reconcile;
mod report;
mod successor;

pub(crate) use reconcile::reconcile;
