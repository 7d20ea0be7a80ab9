//! What a pod's annotations tell the nodes that this crate plays.
//!
//! Containers are not run here, so nothing makes a pod unready, or its containers fail, by itself.
//! These annotations do, on a pod or in the template of a workload.

/// `"false"` keeps a pod's containers, and so the pod, from being ready, or makes them unready;
/// any other value, or none, makes them ready.
pub const READY: &str = "local-cluster/ready";

/// The code with which the containers of a pod exit that does not start them anew (restart policy
/// `Never` or `OnFailure`), once they have run for
/// [`pod_run_time`](crate::LocalClusterOptions::pod_run_time). Without it they exit with 0.
pub const EXIT_CODE: &str = "local-cluster/exit-code";
