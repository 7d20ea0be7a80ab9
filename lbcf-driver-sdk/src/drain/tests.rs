use super::Drain;
use std::time::{Duration, SystemTime};

const LIMIT: Duration = Duration::from_secs(60);

/// The decision about a backend that has drained for some milliseconds.
fn after(millis: u64, open: u64) -> Drain {
    let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let now = since + Duration::from_millis(millis);
    Drain::decide(Some(since), now, LIMIT, open)
}

#[test]
fn d71_it_waits_while_clients_are_connected_and_have_time() {
    let seconds = |count| Drain::Wait(Duration::from_secs(count));
    assert_eq!(after(0, 1), seconds(2));
    assert_eq!(after(57_999, 1), seconds(2));
    // Called again when the time is over, and not within the second that the wire rounds to.
    assert_eq!(after(58_500, 1), Drain::Wait(Duration::from_millis(1_500)));
    assert_eq!(after(59_999, u64::MAX), seconds(1));
}

#[test]
fn d71_it_ends_with_the_last_connection_or_at_the_limit() {
    assert_eq!(after(0, 0), Drain::Done);
    assert_eq!(after(61_000, 0), Drain::Done);
    for millis in [60_000, 60_001, 1_000_000_000] {
        assert_eq!(after(millis, 1), Drain::Expired);
    }
}

#[test]
fn d71_without_a_time_or_a_limit_clients_get_none_and_a_clock_ahead_adds_at_most_one_limit() {
    let now = SystemTime::UNIX_EPOCH;
    assert_eq!(Drain::decide(None, now, LIMIT, 1), Drain::Expired);
    assert_eq!(Drain::decide(None, now, LIMIT, 0), Drain::Done);
    assert_eq!(
        Drain::decide(Some(now), now, Duration::ZERO, 1),
        Drain::Expired
    );
    let ahead = now + Duration::from_secs(5);
    let waits = Drain::Wait(Duration::from_secs(2));
    assert_eq!(Drain::decide(Some(ahead), now, LIMIT, 1), waits);
    assert_eq!(Drain::decide(Some(now), now, Duration::MAX, 1), waits);
}
