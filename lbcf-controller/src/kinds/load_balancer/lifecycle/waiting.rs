//! Why a load balancer waits that needs no call now. No I/O, no clock.

use crate::api::{ObjectKey, reasons};
use crate::cluster::{Wait, WaitEvent};

/// Its driver exists and cannot be parsed.
pub(super) fn driver_unreadable(field: &str, driver: &ObjectKey) -> Wait {
    let message = format!("{field}: LoadBalancerDriver {driver} cannot be parsed");
    Wait::new(reasons::DRIVER_UNREADABLE, message, WaitEvent::Problem)
}

/// Its backends are deregistered before it is deleted.
pub(super) fn records_remaining(count: usize, first: Option<&ObjectKey>) -> Wait {
    let first = first.map(|first| format!(", the first is {first}"));
    let message = format!(
        "waiting until all backends are deregistered; BackendRecords that remain: {count}{}",
        first.unwrap_or_default()
    );
    Wait::new(reasons::RECORDS_REMAINING, message, WaitEvent::Progress)
}

/// It is unknown whether something is registered with it.
pub(super) fn unreadable_record() -> Wait {
    let message = "waiting: a BackendRecord cannot be understood and might be registered here";
    Wait::new(reasons::UNREADABLE_RECORD, message, WaitEvent::Problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d44_a_load_balancer_that_waits_for_records_names_how_many_and_the_first() {
        let first = ObjectKey::new("web", "abc");
        let (three, two) = (
            records_remaining(3, Some(&first)),
            records_remaining(2, None),
        );
        assert_eq!(three.reason, "RecordsRemaining");
        assert_eq!(
            three.message,
            "waiting until all backends are deregistered; BackendRecords that remain: 3, the first is web/abc"
        );
        assert_eq!(
            three.subject(),
            two.subject(),
            "another count is no new event"
        );
    }

    #[test]
    fn d44_each_reason_of_a_load_balancer_names_what_it_waits_for() {
        let wait = driver_unreadable("spec.lbDriver", &ObjectKey::new("ns", "d"));
        assert_eq!(wait.reason, "DriverUnreadable");
        assert_eq!(
            wait.message,
            "spec.lbDriver: LoadBalancerDriver ns/d cannot be parsed"
        );
        assert_eq!(unreadable_record().reason, "UnreadableBackendRecord");
    }
}
