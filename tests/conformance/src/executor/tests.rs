use super::*;
use std::time::Duration;

fn gone(after: &'static str) -> StopReason {
    StopReason::DriverGone {
        problem: "no connection".to_owned(),
        after,
    }
}

#[test]
fn a_driver_that_crashes_on_bad_input_fails_the_check_for_it() {
    let made = |over: &StopReason| -> Vec<&str> {
        let made = checks::all().filter(|check| spares(over, check));
        made.map(|check| check.id).collect()
    };
    assert_eq!(made(&gone("BAD-01")), ["BAD-05"]);
    assert_eq!(made(&gone("BAD-04")), ["BAD-05"]);
    assert_eq!(made(&gone("ENS-02")), [""; 0]);
    assert_eq!(made(&StopReason::Silent(5)), [""; 0]);
    assert_eq!(made(&StopReason::Interrupted), [""; 0]);
    assert_eq!(made(&StopReason::TimeIsUp(Duration::from_secs(1))), [""; 0]);
    assert_eq!(made(&StopReason::FailFast("BAD-01")), [""; 0]);
}

#[test]
fn only_a_driver_that_does_not_respond_is_unreachable() {
    assert_eq!(
        gone("ENS-02").unreachable().as_deref(),
        Some("no connection")
    );
    assert!(StopReason::Silent(5).unreachable().is_some());
    assert_eq!(StopReason::Interrupted.unreachable(), None);
    assert_eq!(
        StopReason::TimeIsUp(Duration::from_secs(1)).unreachable(),
        None
    );
}
