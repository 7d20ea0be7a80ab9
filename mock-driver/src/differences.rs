//! Differences between a cluster and the cloud: between what LBCF's objects declare and what is there.
//!
//! The mock knows neither Kubernetes nor the kinds of LBCF: it reads the cluster through the
//! [`ClusterReader`] that it is started with.

mod cluster;
mod decide;

pub use cluster::{
    ClusterBackend, ClusterLoadBalancer, ClusterReader, ClusterView, ObjectReference,
};
pub(crate) use decide::{Difference, DifferenceKind, differences};
