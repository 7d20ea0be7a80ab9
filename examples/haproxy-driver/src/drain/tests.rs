use super::*;

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn open_sessions_may_go_on_until_the_limit_and_not_longer() {
    let step = |sessions, seconds| next_step(sessions, Duration::from_secs(seconds), LIMIT);
    assert_eq!(step(0, 0), DrainStep::Remove);
    assert_eq!(step(1, 0), DrainStep::Wait(LIMIT));
    assert_eq!(step(1, 29), DrainStep::Wait(Duration::from_secs(1)));
    assert_eq!(step(1, 30), DrainStep::ShutDown);
    assert_eq!(step(0, 31), DrainStep::Remove);
    assert_eq!(
        next_step(1, Duration::ZERO, Duration::ZERO),
        DrainStep::ShutDown
    );
}

#[test]
fn the_controllers_time_counts_before_that_of_haproxy() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    let in_haproxy = Duration::from_secs(7);
    assert_eq!(drained_for(None, now, in_haproxy), in_haproxy);
    assert_eq!(drained_for(Some(now - LIMIT), now, in_haproxy), LIMIT);
    assert_eq!(
        drained_for(Some(now + LIMIT), now, in_haproxy),
        Duration::ZERO
    );
}
