//! The node port of a Service on nodes (b112). No I/O, no clock.

use crate::api::ServiceSelection;
use crate::index::{NodeView, ServiceView, takes_node};
use lbcf_driver_sdk::webhook::Protocol;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct CandidateNode {
    pub node: Arc<NodeView>,
    /// A pod of the Service is available on the node.
    pub has_pods: bool,
}

/// The port of a Service, and the one that forwards to it on each node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodePort {
    pub port: (i32, Protocol),
    pub node_port: i32,
}

/// b112: one backend on each selected node if the service has a port there. A service that forwards
/// only on the node has backends where its pods are (u16).
pub(in crate::backends) fn backends<'a>(
    service: &ServiceView,
    selection: &'a ServiceSelection,
    nodes: &'a [CandidateNode],
) -> Vec<(NodePort, &'a NodeView)> {
    let Some(port) = service.port(&selection.port) else {
        return Vec::new();
    };
    let port = (port.port, port.protocol());
    let Some(node_port) = service.node_port(port.0, port.1.as_str()) else {
        return Vec::new();
    };
    let port = NodePort { port, node_port };
    let follows_pods = service.is_local && !service.selector.is_empty();
    nodes
        .iter()
        .filter(|candidate| candidate.node.usable)
        .filter(|candidate| takes_node(selection, &candidate.node.labels))
        .filter(|candidate| candidate.has_pods || !follows_pods)
        .map(|candidate| (port, &*candidate.node))
        .collect()
}
