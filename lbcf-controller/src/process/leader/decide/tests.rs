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
    fn follower(&self, observed: ObservedLease) -> ElectionState {
        ElectionState {
            observed,
            read_at: self.0,
            changed_at: self.0,
            renewed_at: None,
            retry_at: None,
            is_restored: false,
        }
    }

    /// A leader since second 0.
    fn leader(&self, observed: ObservedLease) -> ElectionState {
        ElectionState {
            renewed_at: Some(self.0),
            ..self.follower(observed)
        }
    }
}

fn held_by(holder: &str) -> ObservedLease {
    ObservedLease::Present(LeaseSpec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(15),
        ..LeaseSpec::default()
    })
}

fn decided(state: &ElectionState, now: Instant) -> ElectionAction {
    decide(state, &config(), now)
}

#[test]
fn nothing_is_done_before_the_lease_was_read() {
    let clock = Clock::new();
    let state = clock.follower(ObservedLease::Unknown);
    assert_eq!(decided(&state, clock.at(0)), ElectionAction::Read);
}

#[test]
fn a_lease_without_holder_is_acquired_at_once() {
    let clock = Clock::new();
    for observed in [
        ObservedLease::Absent,
        held_by(""),
        ObservedLease::Present(LeaseSpec::default()),
    ] {
        assert_eq!(
            decided(&clock.follower(observed), clock.at(0)),
            ElectionAction::Acquire
        );
    }
}

#[test]
fn the_lease_of_another_holder_is_read_every_retry_period() {
    let clock = Clock::new();
    let mut state = clock.follower(held_by("them"));
    assert_eq!(
        decided(&state, clock.at(0)),
        ElectionAction::Wait(clock.at(2))
    );
    assert_eq!(
        decided(&state, clock.at(1)),
        ElectionAction::Wait(clock.at(2))
    );
    assert_eq!(decided(&state, clock.at(2)), ElectionAction::Read);
    state.read_at = clock.at(2);
    assert_eq!(
        decided(&state, clock.at(2)),
        ElectionAction::Wait(clock.at(4))
    );
}

#[test]
fn anothers_lease_is_taken_when_it_did_not_change_for_its_duration_and_not_before() {
    let clock = Clock::new();
    let mut state = clock.follower(held_by("them"));
    state.read_at = clock.at(14);
    assert_eq!(
        decided(&state, clock.at(14)),
        ElectionAction::Wait(clock.at(15)),
        "it reads as soon as it may acquire it"
    );
    assert_eq!(
        decided(&state, clock.at(15)),
        ElectionAction::Read,
        "an earlier read does not show the present state"
    );
    state.read_at = clock.at(15);
    assert_eq!(decided(&state, clock.at(15)), ElectionAction::Acquire);
    state.changed_at = clock.at(15);
    assert_eq!(
        decided(&state, clock.at(15)),
        ElectionAction::Wait(clock.at(17)),
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
        let mut state = clock.follower(ObservedLease::Present(LeaseSpec {
            holder_identity: Some("them".into()),
            lease_duration_seconds: promised,
            ..LeaseSpec::default()
        }));
        state.read_at = clock.at(expires - 1);
        assert_eq!(
            decided(&state, clock.at(expires - 1)),
            ElectionAction::Wait(clock.at(expires)),
            "{promised:?}"
        );
        state.read_at = clock.at(expires);
        assert_eq!(
            decided(&state, clock.at(expires)),
            ElectionAction::Acquire,
            "{promised:?}"
        );
    }
}

#[test]
fn the_times_that_stand_in_the_lease_change_nothing() {
    let clock = Clock::new();
    for time in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let ObservedLease::Present(lease) = held_by("them") else {
            unreachable!()
        };
        let mut state = clock.follower(ObservedLease::Present(LeaseSpec {
            acquire_time: Some(MicroTime(time)),
            renew_time: Some(MicroTime(time)),
            ..lease
        }));
        assert_eq!(
            decided(&state, clock.at(1)),
            ElectionAction::Wait(clock.at(2))
        );
        state.read_at = clock.at(15);
        assert_eq!(decided(&state, clock.at(15)), ElectionAction::Acquire);
    }
}

#[test]
fn an_own_write_that_was_not_heard_of_is_taken_up() {
    let clock = Clock::new();
    let state = clock.follower(held_by("us"));
    assert_eq!(decided(&state, clock.at(0)), ElectionAction::Renew);
}

#[test]
fn after_a_failure_it_is_tried_again_but_not_at_once() {
    let clock = Clock::new();
    let mut state = clock.follower(ObservedLease::Unknown);
    state.retry_at = Some(clock.at(2));
    assert_eq!(
        decided(&state, clock.at(1)),
        ElectionAction::Wait(clock.at(2))
    );
    assert_eq!(decided(&state, clock.at(2)), ElectionAction::Read);
}

#[test]
fn the_leader_renews_every_retry_period() {
    let clock = Clock::new();
    let state = clock.leader(held_by("us"));
    assert_eq!(
        decided(&state, clock.at(0)),
        ElectionAction::Wait(clock.at(2))
    );
    assert_eq!(decided(&state, clock.at(2)), ElectionAction::Renew);
    assert_eq!(decided(&state, clock.at(9)), ElectionAction::Renew);
}

#[test]
fn the_leader_steps_down_when_it_did_not_renew_in_time_whatever_it_sees() {
    let clock = Clock::new();
    for observed in [
        held_by("us"),
        ObservedLease::Unknown,
        ObservedLease::Absent,
        held_by(""),
    ] {
        let mut state = clock.leader(observed);
        state.retry_at = Some(clock.at(30));
        assert_eq!(
            decided(&state, clock.at(9)),
            ElectionAction::Wait(clock.at(10)),
            "it waits for no longer than its deadline"
        );
        assert_eq!(decided(&state, clock.at(10)), ElectionAction::StepDown);
        assert_eq!(decided(&state, clock.at(1000)), ElectionAction::StepDown);
    }
}

#[test]
fn the_leader_steps_down_as_soon_as_it_sees_another() {
    let clock = Clock::new();
    let state = clock.leader(held_by("them"));
    assert_eq!(decided(&state, clock.at(0)), ElectionAction::StepDown);
}

#[test]
fn the_leader_looks_again_when_a_write_went_wrong() {
    let clock = Clock::new();
    let state = clock.leader(ObservedLease::Unknown);
    assert_eq!(decided(&state, clock.at(3)), ElectionAction::Read);
}

#[test]
fn the_leader_makes_good_a_lease_that_was_deleted_or_emptied() {
    let clock = Clock::new();
    for observed in [ObservedLease::Absent, held_by("")] {
        assert_eq!(
            decided(&clock.leader(observed), clock.at(1)),
            ElectionAction::Acquire
        );
    }
}

#[test]
fn d39_a_leader_whose_lease_went_back_steps_down() {
    let clock = Clock::new();
    let state = ElectionState {
        is_restored: true,
        ..clock.leader(held_by("us"))
    };
    assert_eq!(decided(&state, clock.at(1)), ElectionAction::StepDown);
}
