//! Starts the agents.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::definitions::Definitions;
use super::endpoint_slices::EndpointSlices;
use super::garbage::Collector;
use super::namespaces::Namespaces;
use super::node::NodeAgent;
use super::run::run;
use super::workloads::Workloads;
use crate::options::LocalClusterOptions;
use crate::writer::Cluster;

/// Starts all agents; they end with the cluster.
pub(crate) fn spawn(cluster: &Arc<Cluster>, options: &LocalClusterOptions, tasks: &TaskTracker) {
    tasks.spawn(run(Arc::clone(cluster), Definitions::default()));
    if options.run_pods {
        tasks.spawn(run(Arc::clone(cluster), NodeAgent::new(options)));
    }
    tasks.spawn(run(Arc::clone(cluster), Collector::default()));
    tasks.spawn(run(Arc::clone(cluster), Namespaces::default()));
    tasks.spawn(run(Arc::clone(cluster), EndpointSlices::default()));
    tasks.spawn(run(Arc::clone(cluster), Workloads::default()));
}
