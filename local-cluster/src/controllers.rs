//! The controllers of a cluster: scheduler and kubelet, garbage collector, namespaces,
//! CustomResourceDefinitions, workloads and EndpointSlices.
//!
//! Each implements `run::Controller`, a state machine without tasks, timers or locks of its own: the
//! loop in `run` applies every event of the store to it and calls `reconcile`. Controllers write to the
//! store directly, so their writes are neither counted as requests nor reviewed by webhooks, except for
//! the deletions in `namespaces`, which webhooks review.

mod context;
mod definitions;
mod deployments;
mod endpoint_slices;
mod garbage_collector;
mod indexes;
mod namespaces;
mod owners;
mod pod_lifecycle;
mod pod_traffic;
mod pods;
mod queues;
mod run;
mod scheduling;
mod sets;
mod status;
mod template;
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
    if !options.run_controllers {
        return;
    }
    if options.run_pods {
        tasks.spawn(run(Arc::clone(cluster), PodLifecycle::new(options)));
    }
    tasks.spawn(run(Arc::clone(cluster), GarbageCollector::default()));
    tasks.spawn(run(Arc::clone(cluster), Namespaces::default()));
    tasks.spawn(run(Arc::clone(cluster), EndpointSlices::default()));
    tasks.spawn(run(Arc::clone(cluster), Workloads::default()));
}
