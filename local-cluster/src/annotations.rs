//! Annotations of pods that control the simulated kubelets.
//!
//! Containers do not run here, so no pod becomes unready or fails on its own. These annotations make it,
//! on a pod or in the template of a workload.

/// `"false"` makes the containers of a pod, and so the pod, unready; with any other value, or without the
/// annotation, they are ready.
pub const READY: &str = "local-cluster/ready";

/// The exit code of the containers of a pod with restart policy `Never` or `OnFailure`, after they have run
/// for [`pod_run_time`](crate::LocalClusterOptions::pod_run_time); 0 by default.
pub const EXIT_CODE: &str = "local-cluster/exit-code";
