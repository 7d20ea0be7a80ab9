//! Why not all backends of an owner are registered, whatever its kind. No I/O, no clock.

use super::counts::{BackendCounts, OwnerCounts, OwnerView};
use super::pods::ports;
use super::service::{SelectedService, ServiceWait};
use crate::api::names::is_paused;
use crate::api::{BackendOwner, PodSelection, allowed, reasons};
use crate::cluster::{Wait, WaitEvent, paused, some};
use crate::index::Owner;

/// The state that an owner's backends depend on.
pub(super) struct BackendsView<'a> {
    pub(super) owner: &'a Owner,
    pub(super) object: &'a dyn BackendOwner,
    pub(super) service: &'a SelectedService,
    pub(super) known: &'a OwnerCounts,
    pub(super) counts: BackendCounts,
    pub(super) view: &'a OwnerView,
}

/// None if all backends are registered. The message has no counts of backends, because the status has
/// them: each count would be a write.
pub(super) fn waiting(view: &BackendsView<'_>) -> Option<Wait> {
    let namespace = &view.owner.key().namespace;
    let is_complete = view.counts.is_complete();
    let missing = match (view.object.pods(), view.object.service()) {
        (Some(pods), _) => {
            let has_ports = !ports(view.owner, view.object).is_empty();
            selection(pods, namespace, has_ports, view.known.pods)
        }
        (None, Some(selection)) => {
            let wait = ServiceWait {
                selection,
                namespace,
                selected: view.service,
                counts: view.known,
                owner: view.view,
                is_complete,
            };
            wait.find()
        }
        (None, None) => without_source(view),
    };
    let unfinished = || match is_paused(view.object.metadata()) {
        true => paused(&view.owner.request_key().to_string()),
        false => unfinished(view.view),
    };
    missing.or_else(|| (!is_complete).then(unfinished))
}

/// Why an owner that selects pods has nothing to register.
fn selection(
    selection: &PodSelection,
    namespace: &str,
    has_ports: bool,
    pods: usize,
) -> Option<Wait> {
    if !has_ports {
        let message = "spec.pods.ports has no port";
        return Some(Wait::new(reasons::NO_PORTS, message, WaitEvent::Problem));
    }
    if pods > 0 {
        return None;
    }
    let (message, event) = match &selection.by_label {
        Some(by_label) => {
            let labels = by_label.selector.iter();
            let labels = labels.map(|(label, value)| format!("{label}={value}"));
            let selector = some(labels);
            let message =
                format!("spec.pods.byLabel selects no pod in namespace {namespace}: {selector}");
            // A workload that is scaled to 0 is no mistake.
            (message, WaitEvent::Progress)
        }
        None => {
            let names = some(selection.by_name.iter());
            let message =
                format!("spec.pods.byName: no such pod in namespace {namespace}: {names}");
            (message, WaitEvent::Problem)
        }
    };
    Some(Wait::new(reasons::NO_PODS_SELECTED, message, event))
}

/// Only a group may have addresses instead of pods or a Service.
fn without_source(view: &BackendsView<'_>) -> Option<Wait> {
    let (reason, message) = match view.owner {
        Owner::Group(_) if view.counts.backends > 0 => return None,
        Owner::Group(_) => (
            reasons::NO_ADDRESSES,
            "spec.static has no address".to_owned(),
        ),
        Owner::Bind(_) => {
            let message = format!("spec: {}", allowed::NEEDS_PODS_OR_SERVICE);
            (reasons::NO_PODS_SELECTED, message)
        }
    };
    Some(Wait::new(reason, message, WaitEvent::Problem))
}

/// The wait of an owner whose backends exist.
fn unfinished(view: &OwnerView) -> Wait {
    if let Some(message) = &view.conflict {
        return Wait::new(reasons::RECORD_CONFLICT, message, WaitEvent::Elsewhere);
    }
    if view.is_refused {
        let message = "the API server refuses to store BackendRecords; the events and the log have its messages";
        return Wait::new(reasons::RECORDS_REFUSED, message, WaitEvent::Elsewhere);
    }
    if view.has_unready_pods {
        let message = "some selected pods are not Ready, or have no address";
        return Wait::new(reasons::PODS_NOT_READY, message, WaitEvent::IfLong);
    }
    let mut message = "some BackendRecords are not registered".to_owned();
    if let Some(first) = &view.troubled {
        message.push_str("; ");
        message.push_str(first);
    }
    Wait::new(reasons::REGISTERING, message, WaitEvent::IfLong)
}

#[cfg(test)]
mod tests;
