//! Bind: load balancers and pods in one object (section 17 of the behaviour list).
//!
//! Its pods are looked after as a group's are. Each of its load balancers has work of its own
//! ([`load_balancer`]), so that one that is slow or fails holds up neither the others nor the pods
//! (u5).

mod act;
mod decide;
pub(crate) mod load_balancer;
mod status;
mod status_locks;

pub(crate) use act::act;
pub(crate) use status_locks::StatusLocks;
