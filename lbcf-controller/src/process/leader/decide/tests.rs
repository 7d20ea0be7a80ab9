//! Every rule of the election. Times are seconds from a beginning.

use super::ElectionAction::{Acquire, Read, Renew, StepDown};
use super::*;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use std::sync::LazyLock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn at(seconds: u64) -> Instant {
    *START + Duration::from_secs(seconds)
}

fn wait(seconds: u64) -> ElectionAction {
    ElectionAction::Wait(at(seconds))
}

/// A follower that read this at second 0, and found it changed.
fn follower(observed: ObservedLease) -> ElectionState {
    ElectionState {
        observed,
        read_at: at(0),
        changed_at: at(0),
        renewed_at: None,
        retry_at: None,
        is_restored: false,
    }
}

/// A leader since second 0.
fn leader(observed: ObservedLease) -> ElectionState {
    ElectionState {
        renewed_at: Some(at(0)),
        ..follower(observed)
    }
}

fn lease_of(holder: &str) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(15),
        ..LeaseSpec::default()
    }
}

fn held_by(holder: &str) -> ObservedLease {
    ObservedLease::Present(lease_of(holder))
}

/// The follower has read the lease at this second, too.
fn read_at(second: u64, state: ElectionState) -> ElectionState {
    ElectionState {
        read_at: at(second),
        ..state
    }
}

/// What is decided at each second.
#[track_caller]
fn check<const N: usize>(state: &ElectionState, expected: [(u64, ElectionAction); N]) {
    for (second, action) in expected {
        let config = LeaderElection::new("kube-system", "us");
        let decided = decide(state, &config, at(second));
        assert_eq!(decided, action, "at second {second}: {state:?}");
    }
}

#[test]
fn a_follower_reads_waits_and_acquires_what_nobody_holds() {
    check(&follower(ObservedLease::Unknown), [(0, Read)]);
    let bare = ObservedLease::Present(LeaseSpec::default());
    for free in [ObservedLease::Absent, held_by(""), bare] {
        check(&follower(free), [(0, Acquire)]);
    }
    let theirs = || follower(held_by("them"));
    check(&theirs(), [(0, wait(2)), (1, wait(2)), (2, Read)]);
    check(&read_at(2, theirs()), [(2, wait(4))]);
    // An own write that was not heard of.
    check(&follower(held_by("us")), [(0, Renew)]);
    let failed = ElectionState {
        retry_at: Some(at(2)),
        ..follower(ObservedLease::Unknown)
    };
    check(&failed, [(1, wait(2)), (2, Read)]);
}

#[test]
fn anothers_lease_is_taken_when_it_did_not_change_for_its_duration_and_not_before() {
    let read = |second| read_at(second, follower(held_by("them")));
    // It reads as soon as it may acquire: an earlier read does not show the present state.
    check(&read(14), [(14, wait(15)), (15, Read)]);
    check(&read(15), [(15, Acquire)]);
    let renewed = ElectionState {
        changed_at: at(15),
        ..read(15)
    };
    check(&renewed, [(15, wait(17))]);
}

#[test]
fn the_holders_own_promise_counts_where_it_made_one() {
    for (promised, expires) in [
        (Some(60), 60),
        (Some(1), 1),
        (Some(0), 15),
        (Some(-5), 15),
        (None, 15),
        (Some(i32::MAX), 2_147_483_647),
    ] {
        let lease = || LeaseSpec {
            lease_duration_seconds: promised,
            ..lease_of("them")
        };
        let read = |second| read_at(second, follower(ObservedLease::Present(lease())));
        check(&read(expires - 1), [(expires - 1, wait(expires))]);
        check(&read(expires), [(expires, Acquire)]);
    }
}

#[test]
fn the_times_that_stand_in_the_lease_change_nothing() {
    for time in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let lease = LeaseSpec {
            acquire_time: Some(MicroTime(time)),
            renew_time: Some(MicroTime(time)),
            ..lease_of("them")
        };
        let state = follower(ObservedLease::Present(lease));
        check(&state, [(1, wait(2))]);
        check(&read_at(15, state), [(15, Acquire)]);
    }
}

#[test]
fn the_leader_renews_and_makes_good_what_went_wrong() {
    let renewing = [(0, wait(2)), (2, Renew), (9, Renew)];
    check(&leader(held_by("us")), renewing);
    check(&leader(ObservedLease::Unknown), [(3, Read)]);
    for observed in [ObservedLease::Absent, held_by("")] {
        check(&leader(observed), [(1, Acquire)]);
    }
}

#[test]
fn d39_the_leader_steps_down_in_time_and_when_it_sees_another_or_an_earlier_lease() {
    let (unknown, absent) = (ObservedLease::Unknown, ObservedLease::Absent);
    for observed in [held_by("us"), unknown, absent, held_by("")] {
        let state = ElectionState {
            retry_at: Some(at(30)),
            ..leader(observed)
        };
        // It waits for no longer than its deadline.
        let expected = [(9, wait(10)), (10, StepDown), (1000, StepDown)];
        check(&state, expected);
    }
    check(&leader(held_by("them")), [(0, StepDown)]);
    let restored = ElectionState {
        is_restored: true,
        ..leader(held_by("us"))
    };
    check(&restored, [(1, StepDown)]);
}
