//! Every rule of the election. Times are seconds from a beginning.

use super::*;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

fn config() -> LeaderElection {
    LeaderElection::new("kube-system", "us")
}

struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn at(&self, seconds: u64) -> Instant {
        self.0 + Duration::from_secs(seconds)
    }

    /// A follower that read this at second 0, and found it changed.
    fn follower(&self, seen: Seen) -> View {
        View {
            seen,
            read_at: self.0,
            changed_at: self.0,
            renewed_at: None,
            retry_at: None,
        }
    }

    /// A leader since second 0.
    fn leader(&self, seen: Seen) -> View {
        View {
            renewed_at: Some(self.0),
            ..self.follower(seen)
        }
    }
}

fn held_by(holder: &str) -> Seen {
    Seen::Present(LeaseSpec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(15),
        ..LeaseSpec::default()
    })
}

fn decided(view: &View, now: Instant) -> Next {
    decide(view, &config(), now)
}

#[test]
fn nothing_is_done_before_the_lease_was_read() {
    let clock = Clock::new();
    let view = clock.follower(Seen::Unknown);
    assert_eq!(decided(&view, clock.at(0)), Next::Read);
}

#[test]
fn a_lease_that_nobody_holds_is_taken_at_once() {
    let clock = Clock::new();
    for seen in [
        Seen::Absent,
        held_by(""),
        Seen::Present(LeaseSpec::default()),
    ] {
        assert_eq!(decided(&clock.follower(seen), clock.at(0)), Next::Acquire);
    }
}

#[test]
fn anothers_lease_is_looked_at_every_retry_period() {
    let clock = Clock::new();
    let mut view = clock.follower(held_by("them"));
    assert_eq!(decided(&view, clock.at(0)), Next::Wait(clock.at(2)));
    assert_eq!(decided(&view, clock.at(1)), Next::Wait(clock.at(2)));
    assert_eq!(decided(&view, clock.at(2)), Next::Read);
    view.read_at = clock.at(2);
    assert_eq!(decided(&view, clock.at(2)), Next::Wait(clock.at(4)));
}

#[test]
fn anothers_lease_is_taken_when_it_did_not_change_for_its_duration_and_not_before() {
    let clock = Clock::new();
    let mut view = clock.follower(held_by("them"));
    view.read_at = clock.at(14);
    assert_eq!(
        decided(&view, clock.at(14)),
        Next::Wait(clock.at(15)),
        "it looks as soon as it may take it"
    );
    assert_eq!(
        decided(&view, clock.at(15)),
        Next::Read,
        "what was read before says nothing of now"
    );
    view.read_at = clock.at(15);
    assert_eq!(decided(&view, clock.at(15)), Next::Acquire);
    view.changed_at = clock.at(15);
    assert_eq!(
        decided(&view, clock.at(15)),
        Next::Wait(clock.at(17)),
        "it was renewed at the last moment"
    );
}

#[test]
fn the_holders_own_promise_counts_where_it_made_one() {
    let clock = Clock::new();
    for (promised, expires) in [
        (Some(60), 60),
        (Some(1), 1),
        (Some(0), 15),
        (Some(-5), 15),
        (None, 15),
        (Some(i32::MAX), 2_147_483_647),
    ] {
        let mut view = clock.follower(Seen::Present(LeaseSpec {
            holder_identity: Some("them".into()),
            lease_duration_seconds: promised,
            ..LeaseSpec::default()
        }));
        view.read_at = clock.at(expires - 1);
        assert_eq!(
            decided(&view, clock.at(expires - 1)),
            Next::Wait(clock.at(expires)),
            "{promised:?}"
        );
        view.read_at = clock.at(expires);
        assert_eq!(
            decided(&view, clock.at(expires)),
            Next::Acquire,
            "{promised:?}"
        );
    }
}

#[test]
fn the_times_that_stand_in_the_lease_change_nothing() {
    let clock = Clock::new();
    for time in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let Seen::Present(lease) = held_by("them") else {
            unreachable!()
        };
        let mut view = clock.follower(Seen::Present(LeaseSpec {
            acquire_time: Some(MicroTime(time)),
            renew_time: Some(MicroTime(time)),
            ..lease
        }));
        assert_eq!(decided(&view, clock.at(1)), Next::Wait(clock.at(2)));
        view.read_at = clock.at(15);
        assert_eq!(decided(&view, clock.at(15)), Next::Acquire);
    }
}

#[test]
fn an_own_write_that_was_not_heard_of_is_taken_up() {
    let clock = Clock::new();
    let view = clock.follower(held_by("us"));
    assert_eq!(decided(&view, clock.at(0)), Next::Renew);
}

#[test]
fn after_a_failure_it_is_tried_again_but_not_at_once() {
    let clock = Clock::new();
    let mut view = clock.follower(Seen::Unknown);
    view.retry_at = Some(clock.at(2));
    assert_eq!(decided(&view, clock.at(1)), Next::Wait(clock.at(2)));
    assert_eq!(decided(&view, clock.at(2)), Next::Read);
}

#[test]
fn the_leader_renews_every_retry_period() {
    let clock = Clock::new();
    let view = clock.leader(held_by("us"));
    assert_eq!(decided(&view, clock.at(0)), Next::Wait(clock.at(2)));
    assert_eq!(decided(&view, clock.at(2)), Next::Renew);
    assert_eq!(decided(&view, clock.at(9)), Next::Renew);
}

#[test]
fn the_leader_steps_down_when_it_did_not_renew_in_time_whatever_it_sees() {
    let clock = Clock::new();
    for seen in [held_by("us"), Seen::Unknown, Seen::Absent, held_by("")] {
        let mut view = clock.leader(seen);
        view.retry_at = Some(clock.at(30));
        assert_eq!(
            decided(&view, clock.at(9)),
            Next::Wait(clock.at(10)),
            "it waits for no longer than its deadline"
        );
        assert_eq!(decided(&view, clock.at(10)), Next::StepDown);
        assert_eq!(decided(&view, clock.at(1000)), Next::StepDown);
    }
}

#[test]
fn the_leader_steps_down_as_soon_as_it_sees_another() {
    let clock = Clock::new();
    let view = clock.leader(held_by("them"));
    assert_eq!(decided(&view, clock.at(0)), Next::StepDown);
}

#[test]
fn the_leader_looks_again_when_a_write_went_wrong() {
    let clock = Clock::new();
    let view = clock.leader(Seen::Unknown);
    assert_eq!(decided(&view, clock.at(3)), Next::Read);
}

#[test]
fn the_leader_makes_good_a_lease_that_was_deleted_or_emptied() {
    let clock = Clock::new();
    for seen in [Seen::Absent, held_by("")] {
        assert_eq!(decided(&clock.leader(seen), clock.at(1)), Next::Acquire);
    }
}
