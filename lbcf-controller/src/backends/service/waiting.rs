//! Why not all backends of a Service are registered (d44). No I/O, no clock.

use super::selected::SelectedService;
use super::waiting_for_endpoints::of_endpoints;
use crate::api::{ServiceMode, ServiceSelection, reasons};
use crate::backends::{OwnerCounts, OwnerView, some};
use crate::cluster::{Wait, WaitEvent};
use crate::index::ServiceView;

/// What the backends of a Service depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceWait<'a> {
    pub(crate) selection: &'a ServiceSelection,
    pub(crate) namespace: &'a str,
    pub(crate) selected: &'a SelectedService,
    pub(crate) counts: &'a OwnerCounts,
    pub(crate) owner: &'a OwnerView,
    /// Whether all backends are registered.
    pub(crate) is_complete: bool,
}

impl<'a> ServiceWait<'a> {
    /// Why there is nothing to register, or not all of it is; none if only the records are not registered yet.
    pub(crate) fn find(self) -> Option<Wait> {
        match self.selection.mode() {
            ServiceMode::NodePort => of_node_port(&self),
            ServiceMode::Endpoints => of_endpoints(&self),
        }
    }

    /// The Service, unless it is being deleted.
    pub(super) fn service(&self) -> Option<&'a ServiceView> {
        let service = self.selected.service.as_deref();
        service.filter(|service| !service.deleting)
    }

    pub(super) fn name(&self) -> String {
        format!("Service {}/{}", self.namespace, self.selection.name)
    }
}

/// Why no node is registered for a service.
fn of_node_port(view: &ServiceWait<'_>) -> Option<Wait> {
    let selection = view.selection;
    let name = view.name();
    let port = &selection.port;
    let problem = |reason, message| Some(Wait::new(reason, message, WaitEvent::Problem));
    let Some(service) = view.service() else {
        let message = format!("{name} not found, or being deleted");
        return problem(reasons::SERVICE_NOT_FOUND, message);
    };
    if !service.has_node_ports {
        let message =
            format!("{name} has no node ports: its type must be NodePort or LoadBalancer");
        return problem(reasons::NO_NODE_PORT, message);
    }
    let found = service.port(port);
    let node_port = found.and_then(|port| service.node_port(port.port, &port.protocol));
    if node_port.is_none() {
        let message = format!("{name} has no node port for port {port}");
        return problem(reasons::NO_NODE_PORT, message);
    }
    let is_failed = view.owner.is_refused || view.owner.conflict.is_some();
    if view.counts.records > 0 || is_failed {
        return None;
    }
    let labels = selection.node_selector.iter();
    let labels = some(labels.map(|(label, value)| format!("{label}={value}")));
    let labels = match labels.as_str() {
        "" => String::new(),
        labels => format!(" with the labels {labels}"),
    };
    let pods = if service.is_local && !service.selector.is_empty() {
        " and a Ready pod of the Service, which has externalTrafficPolicy Local"
    } else {
        ""
    };
    let message = format!(
        "{name}: there is no node{labels} that load balancers may use{}{pods}",
        if pods.is_empty() { "" } else { "," }
    );
    problem(reasons::NO_NODES_SELECTED, message)
}
