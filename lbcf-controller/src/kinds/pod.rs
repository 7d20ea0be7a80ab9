//! The readiness gate of pods, which says whether all backends of a pod are registered.
//!
//! A rollout of a workload whose pods have the gate waits for the load balancer, not only for the
//! containers. [`decide`] has the rules, [`expected`] which records a pod should have, and
//! [`reconcile`] writes the condition.

mod decide;
mod expected;
mod reconcile;

pub(crate) use reconcile::reconcile;
