//! What the owners of backends wait for, whatever their kind (d44). No I/O, no clock.

use crate::api::{PodSelection, reasons};
use crate::cluster::{Wait, WaitEvent};
use std::fmt::Display;

/// How many names a message has.
const NAMED: usize = 3;

/// What the index knows about an owner's pods and records.
#[derive(Debug, Default)]
pub(crate) struct OwnerView {
    /// Whether some of the selected pods are neither available nor being deleted.
    pub has_unready_pods: bool,
    /// The message about records whose names are taken (d35).
    pub conflict: Option<String>,
    /// Whether the last attempt to write its records failed.
    pub is_refused: bool,
}

/// Why an owner that selects pods has nothing to register.
pub(crate) fn selection(
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
            // A workload that is scaled to 0 is no mistake (d58).
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

/// What an owner waits for whose backends exist.
pub(crate) fn unfinished(view: &OwnerView) -> Wait {
    if let Some(message) = &view.conflict {
        return Wait::new(reasons::RECORD_CONFLICT, message, WaitEvent::Elsewhere);
    }
    let (reason, message, event) = if view.is_refused {
        (
            reasons::RECORDS_REFUSED,
            "the API server refuses to store BackendRecords; the events and the log have its messages",
            WaitEvent::Elsewhere,
        )
    } else if view.has_unready_pods {
        (
            reasons::PODS_NOT_READY,
            "some selected pods are not Ready, or have no address",
            WaitEvent::IfLong,
        )
    } else {
        (
            reasons::REGISTERING,
            "some BackendRecords are not registered; their condition Registered has the reason",
            WaitEvent::IfLong,
        )
    };
    Wait::new(reason, message, event)
}

/// The first of these, and how many more there are.
pub(crate) fn some<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut items = items.into_iter();
    let named: Vec<String> = items
        .by_ref()
        .take(NAMED)
        .map(|it| it.to_string())
        .collect();
    let named = named.join(", ");
    match items.count() {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::SelectPodByLabel;

    fn reason(wait: Option<Wait>) -> Option<(&'static str, String)> {
        wait.map(|wait| (wait.reason, wait.message))
    }

    #[test]
    fn d44_an_owner_that_selects_no_pod_says_which_it_selects() {
        let mut pods = PodSelection {
            by_name: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
            ..PodSelection::default()
        };
        assert_eq!(selection(&pods, "ns", true, 1), None);
        assert_eq!(
            reason(selection(&pods, "ns", true, 0)),
            Some((
                "NoPodsSelected",
                "spec.pods.byName: no such pod in namespace ns: a, b, c and 2 more".to_owned()
            ))
        );
        pods.by_label = Some(SelectPodByLabel {
            selector: [("app".to_owned(), "web".to_owned())].into(),
            except: Vec::new(),
        });
        assert_eq!(
            reason(selection(&pods, "ns", true, 0)),
            Some((
                "NoPodsSelected",
                "spec.pods.byLabel selects no pod in namespace ns: app=web".to_owned()
            ))
        );
        let without_ports = selection(&pods, "ns", false, 1);
        assert_eq!(without_ports.map(|wait| wait.reason), Some("NoPorts"));
    }

    #[test]
    fn d44_what_needs_a_user_comes_before_what_ends_by_itself() {
        let mut view = OwnerView {
            has_unready_pods: true,
            conflict: Some("BackendRecord r exists".to_owned()),
            is_refused: true,
        };
        let conflict = unfinished(&view);
        assert_eq!(conflict.reason, "BackendRecordConflict");
        assert_eq!(conflict.message, "BackendRecord r exists");
        view.conflict = None;
        assert_eq!(unfinished(&view).reason, "BackendRecordsRefused");
        view.is_refused = false;
        assert_eq!(unfinished(&view).reason, "PodsNotReady");
        view.has_unready_pods = false;
        assert_eq!(unfinished(&view).reason, "Registering");
    }
}
