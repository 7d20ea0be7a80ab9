//! BackendRecord: registering and deregistering one address.

mod calls;
mod conflict;
mod decide;
mod latency;
mod reconcile;
mod report;
mod successor;

pub(crate) use reconcile::reconcile;
