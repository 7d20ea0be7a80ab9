//! Why not all backends of a Service are registered. No I/O, no clock.

use super::endpoints::{SelectedService, port_of_slice};
use crate::api::{AddressFamily, ServiceMode, ServiceSelection, reasons};
use crate::backends::counts::{OwnerCounts, OwnerView};
use crate::cluster::{Wait, WaitEvent, some};
use crate::index::{ServicePortView, ServiceView, SliceView};
use std::sync::Arc;

/// The state that the backends of a Service depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceWait<'a> {
    pub(crate) selection: &'a ServiceSelection,
    pub(crate) namespace: &'a str,
    pub(crate) selected: &'a SelectedService,
    pub(crate) counts: &'a OwnerCounts,
    pub(crate) owner: &'a OwnerView,
    /// True if all backends are registered.
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

/// A problem that a user has to correct comes first; a malformed slice before what may follow from it.
fn of_endpoints(view: &ServiceWait<'_>) -> Option<Wait> {
    let (selection, name) = (view.selection, view.name());
    let slices = &view.selected.slices;
    let problem = |reason, message| Some(Wait::new(reason, message, WaitEvent::Problem));
    let Some(service) = view.service() else {
        let message = format!("spec.service.name: {name} not found, or being deleted");
        return problem(reasons::SERVICE_NOT_FOUND, message);
    };
    if service.is_external_name {
        let message =
            format!("spec.service.name: {name} has the type ExternalName, which has no endpoints");
        return problem(reasons::NO_ENDPOINTS, message);
    }
    let Some(port) = service.port(&selection.port) else {
        let message = format!(
            "spec.service.port: {name} has no port {}; it has {}",
            selection.port,
            ports_of(service)
        );
        return problem(reasons::NO_SERVICE_PORT, message);
    };
    if let Some(message) = malformed(slices) {
        return problem(reasons::INVALID_ENDPOINT_SLICE, message);
    }
    let selected: Vec<&SliceView> = slices
        .iter()
        .map(|slice| &**slice)
        .filter(|slice| selection.takes_family(slice.family))
        .collect();
    if let Some(message) = without_port(port, &selected, &name) {
        return problem(reasons::NO_SERVICE_PORT, message);
    }
    let counts = view.counts.endpoints;
    if counts.units == 0 {
        return Some(none(selection, service, &name, slices, &selected));
    }
    let is_failed = view.owner.is_refused || view.owner.conflict.is_some();
    if counts.unready > 0 && !view.is_complete && !is_failed {
        let message = format!("some endpoints of {name} are not ready");
        let reason = reasons::ENDPOINTS_NOT_READY;
        return Some(Wait::new(reason, message, WaitEvent::IfLong));
    }
    None
}

fn ports_of(service: &ServiceView) -> String {
    let ports = service.ports.iter().map(|port| match port.name.as_str() {
        "" => format!("{}/{}", port.port, port.protocol),
        name => format!("{name:?} ({}/{})", port.port, port.protocol),
    });
    match some(ports).as_str() {
        "" => "none".to_owned(),
        ports => ports.to_owned(),
    }
}

fn malformed(slices: &[Arc<SliceView>]) -> Option<String> {
    let malformed = slices.iter().filter(|slice| !slice.problems.is_empty());
    let messages = malformed.map(|slice| {
        let problems = slice.problems.join("; ");
        format!("EndpointSlice {}: {problems}", slice.key)
    });
    Some(some(messages)).filter(|messages| !messages.is_empty())
}

/// The slices with endpoints that do not have the port. An empty list of ports means that none is defined.
fn without_port(port: &ServicePortView, slices: &[&SliceView], name: &str) -> Option<String> {
    let with_endpoints = slices.iter().filter(|slice| !slice.endpoints.is_empty());
    let without = with_endpoints.filter(|slice| port_of_slice(port, slice).is_none());
    let messages = without.map(|slice| {
        let mut ports = slice.ports.iter();
        let problem = if slice.ports.is_empty() {
            "ports: empty, so that its endpoints have no port".to_owned()
        } else if ports.any(|it| it.name == port.name && it.protocol == port.protocol()) {
            format!(
                "ports: {:?} has no number, and the targetPort of {name} is a name",
                port.name
            )
        } else {
            format!(
                "ports: no port is named {:?} with protocol {}",
                port.name, port.protocol
            )
        };
        format!("EndpointSlice {}: {problem}", slice.key)
    });
    Some(some(messages)).filter(|messages| !messages.is_empty())
}

/// Why there is nothing to register.
fn none(
    selection: &ServiceSelection,
    service: &ServiceView,
    name: &str,
    slices: &[Arc<SliceView>],
    selected: &[&SliceView],
) -> Wait {
    let has_endpoints = |slices: &[&SliceView]| slices.iter().any(|it| !it.endpoints.is_empty());
    let all: Vec<&SliceView> = slices.iter().map(|slice| &**slice).collect();
    let (message, event) = if !has_endpoints(&all) {
        if service.selector.is_empty() && all.is_empty() {
            let message = format!(
                "spec.service.name: {name} has neither a selector nor an EndpointSlice with the label kubernetes.io/service-name"
            );
            (message, WaitEvent::Problem)
        } else {
            // A workload that is scaled to 0 is no mistake.
            (format!("{name} has no endpoints"), WaitEvent::Progress)
        }
    } else if !has_endpoints(selected) {
        let families = match selection.address_families.as_slice() {
            [] => &[AddressFamily::IPv4, AddressFamily::IPv6][..],
            families => families,
        };
        let families = some(families.iter().map(|family| family.as_str()));
        let message =
            format!("spec.service.addressFamilies: {name} has no endpoints of the type {families}");
        (message, WaitEvent::Problem)
    } else if selection.zones.is_empty() {
        let message = format!("all endpoints of {name} are terminating");
        (message, WaitEvent::Progress)
    } else {
        let zones = some(&selection.zones);
        let message = format!("spec.service.zones: {name} has no endpoints for zone {zones}");
        (message, WaitEvent::Problem)
    };
    Wait::new(reasons::NO_ENDPOINTS, message, event)
}

#[cfg(test)]
mod tests;
