//! The declarations of a cluster, as far as the cloud can be compared with them.

use lbcf_driver_sdk::webhook::StringMap;
use serde::Serialize;
use std::fmt;

/// Reads a cluster, for a mock that shows what differs.
///
/// The page calls it each time it is shown, so it returns at once with what it knows.
pub trait ClusterReader: fmt::Debug + Send + Sync {
    /// Reads the current declarations.
    ///
    /// # Errors
    /// Why that is not known, for users.
    fn read(&self) -> Result<ClusterView, String>;
}

/// The declarations of a cluster about the load balancers and backends of this cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// LoadBalancers, and the load balancers of Binds.
    pub load_balancers: Vec<ClusterLoadBalancer>,
    /// BackendRecords.
    pub backends: Vec<ClusterBackend>,
}

/// A load balancer that an object declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterLoadBalancer {
    /// The object.
    pub object: ObjectReference,
    /// Its part of recordIDs: the uid of a LoadBalancer, `<uid>-<name>` for one of a Bind.
    pub id: String,
    /// The identity that `createLoadBalancer` returned; empty before.
    pub lb_info: StringMap,
    /// The attributes of the spec.
    pub attributes: StringMap,
    /// True from the request to delete it on.
    pub is_deleting: bool,
}

/// A backend that a BackendRecord declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterBackend {
    /// The BackendRecord.
    pub object: ObjectReference,
    /// The identity of its load balancer.
    pub lb_info: StringMap,
    /// The address that the driver generated; empty before.
    pub address: String,
    /// The parameters of the spec.
    pub parameters: StringMap,
    /// True if its condition says so.
    pub is_registered: bool,
    /// True from the request to delete it on.
    pub is_deleting: bool,
}

/// Names an object of the cluster.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema,
)]
pub struct ObjectReference {
    /// The kind, such as `BackendRecord`.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name; `<bind>/<name>` for a load balancer of a Bind.
    pub name: String,
}

impl fmt::Display for ObjectReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}
