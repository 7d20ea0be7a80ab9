use super::*;
use crate::exchange::{Received, Sent};
use http::{HeaderMap, Method};

const TIMED_OUT: Result<(), NoResponse> = Err(NoResponse::TimedOut(Duration::from_secs(10)));

fn exchange(check: &'static str, outcome: Result<(), NoResponse>) -> Exchange {
    Exchange {
        sequence: 1,
        check: Some(check),
        webhook: Some("ensureBackend"),
        kind: RequestKind::Valid,
        sent: Sent {
            method: Method::POST,
            url: String::new(),
            headers: HeaderMap::new(),
            body: "{}".into(),
        },
        outcome: outcome.map(|()| Received {
            status: 500,
            headers: HeaderMap::new(),
            body: "".into(),
        }),
        took: Duration::from_secs(10),
    }
}

fn counts(silence: &Patience) -> (usize, usize) {
    (silence.silent_calls(), silence.silent_checks.len())
}

#[test]
fn checks_count_once_and_any_response_ends_the_silence() {
    let mut silence = Patience::default();
    for check in ["CONC-01", "CONC-01", "ENS-02"] {
        silence.note(&exchange(check, TIMED_OUT));
    }
    assert_eq!(counts(&silence), (3, 2));
    // Any response counts.
    silence.note(&exchange("ENS-03", Ok(())));
    assert_eq!(counts(&silence), (0, 0));
}

#[test]
fn health_bad_input_and_calls_that_were_hung_up_on_tell_nothing() {
    let mut silence = Patience::default();
    silence.note(&exchange("ENS-02", TIMED_OUT));
    let unchanged = counts(&silence);
    silence.note(&Exchange {
        webhook: Some("healthz"),
        ..exchange("HLTH-01", Ok(()))
    });
    silence.note(&Exchange {
        webhook: None,
        ..exchange("BAD-03", Ok(()))
    });
    silence.note(&Exchange {
        kind: RequestKind::Invalid,
        ..exchange("BAD-01", TIMED_OUT)
    });
    silence.note(&exchange("RTRY-02", Err(NoResponse::HungUp)));
    assert_eq!(counts(&silence), unchanged);
}

#[test]
fn a_connection_that_is_closed_costs_no_time() {
    let mut silence = Patience::default();
    silence.note(&exchange(
        "ENS-02",
        Err(NoResponse::Closed("it was closed".into())),
    ));
    assert_eq!(counts(&silence), (1, 0));
}

const BUDGET: Duration = Duration::from_secs(45);

#[test]
fn one_that_ended_is_not_hopeless() {
    let mut patience = Patience::default();
    patience.ended("createLoadBalancer");
    patience.gave_up("createLoadBalancer");
    assert!(!patience.never_ends("createLoadBalancer"));
    assert_eq!(patience.budget(BUDGET), BUDGET);

    patience.gave_up("ensureBackend");
    assert!(patience.never_ends("ensureBackend"));
    assert_eq!(patience.budget(BUDGET), Duration::from_secs(5));
    // It was only slow.
    patience.ended("ensureBackend");
    assert!(!patience.never_ends("ensureBackend"));
    assert_eq!(patience.budget(BUDGET), BUDGET);
}
