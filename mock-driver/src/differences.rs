//! What differs between a cluster and the cloud: what LBCF's objects declare, and what is there (d81).
//!
//! The mock knows neither Kubernetes nor the kinds of LBCF. Whoever starts it with a cluster gives it a
//! [`ClusterReader`].

mod cluster;
mod decide;
mod groups;

pub use cluster::{
    ClusterBackend, ClusterLoadBalancer, ClusterReader, ClusterView, ObjectReference,
};
pub(crate) use decide::{Difference, DifferenceKind, differences};
