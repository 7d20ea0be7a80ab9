use crate::api::{BackendOwner, DeregisterPolicy, PortSelector};
use crate::index::{Owner, PodView};
use crate::runtime::verdicts::DeregisterVerdict;

/// The decision about a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Eligibility {
    Registered,
    /// It stays registered if it is, and is not registered otherwise.
    Kept,
    /// It is deregistered because it is not ready, and for no other reason.
    Unready,
    Deregistered,
}

/// A pod that is ready is registered under every policy, one that is being deleted or has ended is
/// deregistered under every policy. The policy decides about the others.
pub(crate) fn eligibility_of_pod(
    pod: &PodView,
    policy: Option<DeregisterPolicy>,
    verdict: &DeregisterVerdict,
) -> Eligibility {
    if pod.is_available() {
        return Eligibility::Registered;
    }
    eligibility_of_unready(Some(pod), policy, verdict)
}

/// The decision of the policy about a backend that is not ready. The policies that keep some are about pods;
/// of an endpoint without one only `ready` is known.
pub(crate) fn eligibility_of_unready(
    pod: Option<&PodView>,
    policy: Option<DeregisterPolicy>,
    verdict: &DeregisterVerdict,
) -> Eligibility {
    if pod.is_some_and(|pod| pod.deleting || pod.finished) {
        return Eligibility::Deregistered;
    }
    match policy.unwrap_or_default() {
        DeregisterPolicy::IfNotReady if pod.is_none_or(PodView::is_running) => Eligibility::Unready,
        DeregisterPolicy::IfNotRunning if pod.is_some_and(PodView::is_running) => Eligibility::Kept,
        DeregisterPolicy::Webhook if pod.is_some_and(|pod| verdict.keeps(pod)) => Eligibility::Kept,
        _ => Eligibility::Deregistered,
    }
}

/// The ports of an owner's pods without duplicates.
pub(crate) fn ports(owner: &Owner, object: &dyn BackendOwner) -> Vec<(i32, String)> {
    let mut ports: Vec<(i32, String)> = Vec::new();
    for port in object.pod_ports() {
        let (number, protocol) = pod_port(owner, port);
        let is_known = |(known, other): &(i32, String)| {
            *known == number && other.eq_ignore_ascii_case(&protocol)
        };
        if number > 0 && !ports.iter().any(is_known) {
            ports.push((number, protocol));
        }
    }
    ports
}

/// A port as records' names contain it. Those of a Bind's records keep the protocol's case.
pub(crate) fn pod_port(owner: &Owner, port: &PortSelector) -> (i32, String) {
    let protocol = match owner {
        Owner::Group(_) => port.protocol().as_str(),
        Owner::Bind(_) => port.protocol.as_deref().unwrap_or("TCP"),
    };
    (port.number(), protocol.to_owned())
}
