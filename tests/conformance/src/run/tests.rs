//! That a run which is over makes nothing more, but for what bad input did.

use super::*;

fn gone(after: &'static str) -> Over {
    Over::DriverGone {
        problem: "no connection".to_owned(),
        after,
    }
}

#[test]
fn a_driver_that_died_of_bad_input_is_failed_for_it() {
    let made = |over: &Over| -> Vec<&str> {
        let made = checks::all().filter(|check| over.spares(check));
        made.map(|check| check.id).collect()
    };
    assert_eq!(made(&gone("BAD-01")), ["BAD-05"]);
    assert_eq!(made(&gone("BAD-04")), ["BAD-05"]);
    assert_eq!(made(&gone("ENS-02")), [""; 0]);
    assert_eq!(made(&Over::Silent(5)), [""; 0]);
    assert_eq!(made(&Over::Interrupted), [""; 0]);
    assert_eq!(made(&Over::TimeIsUp(Duration::from_secs(1))), [""; 0]);
    assert_eq!(made(&Over::FailFast("BAD-01")), [""; 0]);
}

#[test]
fn only_a_driver_that_is_not_there_is_unreachable() {
    assert_eq!(
        gone("ENS-02").unreachable().as_deref(),
        Some("no connection")
    );
    assert!(Over::Silent(5).unreachable().is_some());
    assert_eq!(Over::Interrupted.unreachable(), None);
    assert_eq!(Over::TimeIsUp(Duration::from_secs(1)).unreachable(), None);
}
