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

/// The IP address of a pod whose containers the user runs. The pod is started with this address instead of one
/// of the cluster's, and serves nothing itself. Any other text is ignored.
pub const POD_IP: &str = "local-cluster/pod-ip";
