//! The audit: finds backends in the cloud that no BackendRecord accounts for.
//!
//! Reconciling starts from records, so it never sees a backend without one: what a call of an earlier
//! leader registered late, or what a record left behind whose finalizer was removed by hand. The
//! audit starts from the cloud: it asks the drivers that offer it which backends a load balancer has.
//! It runs in the leader, for one load balancer at a time, when the controller takes the lead and
//! then at a long interval.
//!
//! [`decide`] has the rules; the other modules list, look up, remove and report.

mod decide;
mod load_balancer;
mod rotation;

pub(crate) use rotation::run;
