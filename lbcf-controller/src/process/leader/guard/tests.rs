//! The clock is an argument, so no test depends on the machine's.

use super::*;
use futures::FutureExt;
use std::cell::Cell;
use tokio::sync::oneshot;

const DEADLINE: Duration = Duration::from_secs(10);

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn d38_a_term_lasts_until_the_renew_deadline_after_the_renewing_request_was_sent() {
    let term = Term::NotBegun;
    assert_eq!(term.at(at(100), DEADLINE), Term::NotBegun);
    let term = term.renewed(at(100));
    assert_eq!(term.at(at(109), DEADLINE), Term::Renewed(at(100)));
    assert_eq!(term.at(at(110), DEADLINE), Term::Ended);
    let term = term.renewed(at(105));
    assert_eq!(term.at(at(114), DEADLINE), Term::Renewed(at(105)));
    assert_eq!(term.at(at(115), DEADLINE), Term::Ended);
    // A renewal whose response came after the deadline.
    assert_eq!(
        Term::NotBegun.renewed(at(0)).at(at(10), DEADLINE),
        Term::Ended
    );
}

#[test]
fn d38_a_term_that_ended_does_not_begin_again() {
    assert_eq!(Term::Ended.renewed(at(100)), Term::Ended);
    let guard = LeaseGuard::new(DEADLINE);
    guard.renewed(at(100));
    assert_eq!(guard.check(|| at(110)), Err(NotLeading));
    guard.renewed(at(110));
    assert_eq!(guard.check(|| at(110)), Err(NotLeading));
}

#[test]
fn nothing_is_permitted_before_the_lease_is_acquired_and_everything_without_election() {
    let guard = LeaseGuard::new(DEADLINE);
    assert_eq!(guard.check(|| at(0)), Err(NotLeading));
    // A follower that is refused can still become the leader.
    guard.renewed(at(1));
    assert_eq!(guard.check(|| at(1)), Ok(()));
    guard.end();
    assert_eq!(guard.check(|| at(1)), Err(NotLeading));
    assert_eq!(LeaseGuard::none().check(|| at(u64::MAX)), Ok(()));
    assert!(!LeaseGuard::none().has_ended());
}

#[test]
fn d38_a_call_in_flight_is_dropped_after_the_deadline_even_if_its_response_has_arrived() {
    for is_late in [false, true] {
        let guard = LeaseGuard::new(DEADLINE);
        guard.renewed(at(0));
        let now = Cell::new(at(9));
        let (response, called) = oneshot::channel();
        let mut call = Box::pin(guard.run_by(|| now.get(), called));
        assert_eq!(call.as_mut().now_or_never(), None, "it is in flight");
        response.send("done").unwrap();
        now.set(at(if is_late { 10 } else { 9 }));
        let expected = if is_late {
            Err(NotLeading)
        } else {
            Ok(Ok("done"))
        };
        assert_eq!(call.now_or_never(), Some(expected));
        assert_eq!(guard.ended().now_or_never().is_some(), is_late);
    }
}

#[test]
fn d38_a_call_is_not_begun_after_the_deadline() {
    let guard = LeaseGuard::new(DEADLINE);
    guard.renewed(at(0));
    let begun = Cell::new(false);
    let call = guard.run_by(|| at(11), async { begun.set(true) });
    assert_eq!(call.now_or_never(), Some(Err(NotLeading)));
    assert!(!begun.get());
}
