//! The controllers of a cluster: scheduler and kubelet, garbage collector, namespaces,
//! CustomResourceDefinitions, workloads and EndpointSlices.
//!
//! Each implements `run::Controller`, a state machine without tasks, timers or locks of its own: the
//! loop in `run` applies every event of the store to it and calls `reconcile`. Controllers write to the
//! store directly, so their writes are neither counted as requests nor reviewed by webhooks, except for
//! the deletions in `namespaces`, which webhooks review.

mod conditions;
mod context;
mod controller_revisions;
mod daemon_sets;
mod definitions;
mod delay_queue;
mod deployments;
mod endpoint_slices;
mod garbage_collector;
mod int_or_percent;
mod jobs;
mod label_index;
mod multi_map;
mod namespaces;
mod owner_index;
mod owner_references;
mod pod_lifecycle;
mod pod_traffic;
mod pods;
mod replica_sets;
mod run;
mod scheduling;
mod stateful_sets;
mod template;
mod throttle;
mod workloads;
mod write;

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use self::definitions::Definitions;
use self::endpoint_slices::EndpointSlices;
use self::garbage_collector::GarbageCollector;
use self::namespaces::Namespaces;
use self::pod_lifecycle::PodLifecycle;
use self::run::run;
use self::workloads::Workloads;
use crate::options::LocalClusterOptions;
use crate::writer::Cluster;

/// Starts the controllers; they stop with the cluster.
pub(crate) fn spawn(cluster: &Arc<Cluster>, options: &LocalClusterOptions, tasks: &TaskTracker) {
    tasks.spawn(run(Arc::clone(cluster), Definitions::default()));
    if options.run_pods {
        tasks.spawn(run(
            Arc::clone(cluster),
            PodLifecycle::new(cluster, options),
        ));
    }
    tasks.spawn(run(Arc::clone(cluster), GarbageCollector::default()));
    tasks.spawn(run(Arc::clone(cluster), Namespaces::default()));
    tasks.spawn(run(Arc::clone(cluster), EndpointSlices::default()));
    tasks.spawn(run(Arc::clone(cluster), Workloads::default()));
}
