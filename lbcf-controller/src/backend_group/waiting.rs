//! Why not all backends of a group are registered (d44). No I/O, no clock.

use super::decide::GroupCounts;
use super::load_balancer_use::{LoadBalancerUse, UnusableLoadBalancer};
use super::waiting_for_endpoints::of_endpoints;
use crate::api::{BackendGroup, BackendGroupStatus, ServiceSelection, reasons};
use crate::backends::{OwnerView, ports, selection, some, unfinished};
use crate::index::{ServiceView, SliceView, endpoints_of};
use crate::names;
use crate::waiting::{Wait, WaitEvent};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a group's backends depend on.
pub(super) struct GroupView<'a> {
    /// By the names that the group uses.
    pub(super) load_balancers: &'a BTreeMap<String, LoadBalancerUse>,
    pub(super) service: Option<&'a ServiceView>,
    /// Those of the service, if its endpoints are the backends.
    pub(super) slices: Vec<Arc<SliceView>>,
    pub(super) counts: &'a GroupCounts,
    pub(super) owner: OwnerView,
}

/// None if all backends are registered with all load balancers. The message has no counts of
/// backends, because the status has them: each count would be a write.
pub(super) fn waiting(
    group: &BackendGroup,
    status: &BackendGroupStatus,
    view: &GroupView<'_>,
) -> Option<Wait> {
    let namespace = group.metadata.namespace.as_deref().unwrap_or_default();
    let spec = &group.spec;
    let source = || match (&spec.pods, &spec.service) {
        (Some(pods), _) => selection(pods, namespace, !ports(pods).is_empty(), view.counts.pods),
        (None, Some(service)) if endpoints_of(group).is_some() => {
            of_endpoints(service, namespace, status, view)
        }
        (None, Some(service)) => of_service(service, namespace, view),
        (None, None) if status.backends == 0 => {
            let message = "spec.static has no address";
            Some(Wait::new(
                reasons::NO_ADDRESSES,
                message,
                WaitEvent::Problem,
            ))
        }
        (None, None) => None,
    };
    of_load_balancers(namespace, view)
        .or_else(source)
        .or_else(|| {
            let is_complete = status.backends > 0 && status.registered_backends >= status.backends;
            (!is_complete).then(|| unfinished(&view.owner))
        })
}

fn of_load_balancers(namespace: &str, view: &GroupView<'_>) -> Option<Wait> {
    if view.load_balancers.is_empty() {
        let message = "spec.loadBalancers names no load balancer";
        return Some(Wait::new(
            reasons::NO_LOAD_BALANCERS,
            message,
            WaitEvent::Problem,
        ));
    }
    let problems = view.load_balancers.iter().filter_map(|(name, lb)| {
        let (reason, event, problem) = problem(lb, namespace)?;
        let message = format!("LoadBalancer {} {problem}", names::resolve(namespace, name));
        Some((reason, event, message))
    });
    let problems: Vec<_> = problems.collect();
    // What needs a user comes first.
    let needs_user = |(_, event, _): &&(_, WaitEvent, _)| *event == WaitEvent::Problem;
    let first = problems.iter().find(needs_user).or(problems.first())?;
    let others = problems.iter().filter(|other| *other != first);
    let messages = std::iter::once(first).chain(others);
    let messages = some(messages.map(|(_, _, message)| message));
    Some(Wait::new(first.0, messages, first.1))
}

fn problem(lb: &LoadBalancerUse, namespace: &str) -> Option<(&'static str, WaitEvent, String)> {
    let (reason, event, problem) = match lb {
        LoadBalancerUse::Usable(_) => return None,
        LoadBalancerUse::Unknown => (
            reasons::LOAD_BALANCER_UNREADABLE,
            WaitEvent::Problem,
            "cannot be parsed; what is registered with it stays so",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::Missing) => (
            reasons::LOAD_BALANCER_NOT_FOUND,
            WaitEvent::Problem,
            "not found",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::Deleting) => (
            reasons::LOAD_BALANCER_DELETING,
            WaitEvent::Progress,
            "is being deleted",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated) => (
            reasons::LOAD_BALANCER_NOT_CREATED,
            WaitEvent::Progress,
            "is not created yet; its condition Created has the reason",
        ),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::OutOfScope) => {
            let problem = format!("cannot be used: its spec.scope does not include {namespace}");
            let reason = reasons::LOAD_BALANCER_OUT_OF_SCOPE;
            return Some((reason, WaitEvent::Problem, problem));
        }
    };
    Some((reason, event, problem.to_owned()))
}

/// Why no node is registered for a service.
fn of_service(selection: &ServiceSelection, namespace: &str, view: &GroupView<'_>) -> Option<Wait> {
    let name = format!("Service {namespace}/{}", selection.name);
    let port = &selection.port;
    let problem = |reason, message| Some(Wait::new(reason, message, WaitEvent::Problem));
    let Some(service) = view.service.filter(|service| !service.deleting) else {
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

#[cfg(test)]
mod tests;
