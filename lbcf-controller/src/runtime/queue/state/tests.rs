use super::*;
use crate::api::ObjectKey;
use crate::api::reasons;
use crate::cluster::WriteError;
use crate::runtime::outcome::OperationFailure;

fn key(name: &str) -> RequestKey {
    RequestKey::Record(ObjectKey::new("ns", name))
}

fn unlimited(_: &RequestKey) -> ConcurrencyLimits {
    ConcurrencyLimits::default()
}

fn failed(retry_delay: Option<Duration>) -> Result<Action, Error> {
    Err(Error::Operation(OperationFailure {
        reason: reasons::OPERATION_FAILED,
        message: String::new(),
        retry_delay,
        is_unreceived: false,
    }))
}

fn state() -> State {
    State::new(Backoff::default())
}

#[test]
fn b135_a_key_is_never_reconciled_twice_at_a_time() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), None, "it is being reconciled");
    state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
    assert_eq!(
        state.take(now, &unlimited),
        Some(key("a")),
        "it was added while it ran"
    );
    state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
    assert_eq!(state.take(now, &unlimited), None);
}

#[test]
fn u42_deregistering_comes_before_adding() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("add")), now);
    state.add(Request::normal(key("both")), now);
    state.add(Request::high(key("deregister")), now);
    state.add(Request::high(key("both")), now);
    let order: Vec<_> = std::iter::from_fn(|| state.take(now, &unlimited)).collect();
    assert_eq!(order, [key("deregister"), key("both"), key("add")]);
}

#[test]
fn b136_d22_failures_wait_longer_each_time_and_a_success_resets_them() {
    let (mut state, mut now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    for seconds in [10, 20, 40] {
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        // What fails is the step after another one.
        state.done(key("a"), &Ok(Action::RequeueNow), now, 0.0);
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        state.done(key("a"), &failed(None), now, 0.0);
        assert_eq!(state.next_due(), Some(now + Duration::from_secs(seconds)));
        now += Duration::from_secs(seconds);
    }
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    state.done(
        key("a"),
        &Ok(Action::RequeueAfter(Duration::from_secs(1))),
        now,
        0.0,
    );
    now += Duration::from_secs(1);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    state.done(key("a"), &failed(None), now, 0.0);
    assert_eq!(state.next_due(), Some(now + Duration::from_secs(10)));
}

#[test]
fn d22_a_drivers_own_delay_is_kept_exactly() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    state.take(now, &unlimited);
    let asked = Duration::from_secs(300);
    state.done(key("a"), &failed(Some(asked)), now, 1.0);
    assert_eq!(state.next_due(), Some(now + asked));
}

#[test]
fn d116_what_only_a_change_of_the_object_ends_waits_for_the_longest_time_and_a_change_ends_it() {
    let (mut state, now) = (state(), Instant::now());
    let invalid = |retry_delay| {
        Err(Error::Operation(OperationFailure {
            reason: reasons::INVALID_ARGUMENT,
            message: String::new(),
            retry_delay,
            is_unreceived: false,
        }))
    };
    let longest = Duration::from_secs(120);
    assert_eq!(state.retry_delay(&key("a"), true, 0.0), longest);
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    state.done(key("a"), &invalid(None), now, 0.0);
    assert_eq!(state.next_due(), Some(now + longest));
    // The object was changed, and now something else is wrong: it is the second failure.
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    state.done(key("a"), &failed(None), now, 0.0);
    assert_eq!(state.next_due(), Some(now + Duration::from_secs(20)));
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    let asked = Duration::from_secs(7);
    state.done(key("a"), &invalid(Some(asked)), now, 0.0);
    assert_eq!(state.next_due(), Some(now + asked));
}

#[test]
fn d51_requests_that_back_off_become_due_and_those_with_a_drivers_delay_do_not() {
    let (mut state, now) = (state(), Instant::now());
    let asked = Duration::from_secs(300);
    let stored = || {
        let failure = OperationFailure {
            reason: reasons::CREATE_FAILED,
            message: String::new(),
            retry_delay: None,
            is_unreceived: false,
        };
        Err(Error::BackingOff(failure, Duration::from_secs(100)))
    };
    let polled = Ok(Action::RequeueAfter(asked));
    for (name, result) in [
        ("failed", failed(None)),
        ("stored", stored()),
        ("asked", failed(Some(asked))),
        ("polled", polled),
    ] {
        state.add(Request::normal(key(name)), now);
        assert_eq!(state.take(now, &unlimited), Some(key(name)));
        state.done(key(name), &result, now, 0.0);
    }
    let mut waiting = state.backing_off();
    waiting.sort();
    assert_eq!(waiting, [key("asked"), key("failed"), key("stored")]);
    waiting.push(key("polled"));
    waiting.push(key("unknown"));
    waiting.retain(|key| state.end_backoff(key));
    assert_eq!(waiting, [key("failed"), key("stored")]);
    for name in ["failed", "stored"] {
        assert_eq!(state.take(now, &unlimited), Some(key(name)));
        assert!(state.is_backoff_ended(&key(name)));
        // The backoff begins again.
        assert_eq!(
            state.retry_delay(&key(name), false, 0.0),
            Duration::from_secs(10)
        );
        state.done(key(name), &failed(None), now, 0.0);
        assert!(!state.is_backoff_ended(&key(name)));
    }
    assert_eq!(state.next_due(), Some(now + Duration::from_secs(10)));
    let later = now + Duration::from_secs(299);
    let due: Vec<_> = std::iter::from_fn(|| state.take(later, &unlimited)).collect();
    assert_eq!(due, [key("failed"), key("stored")]);
}

#[test]
fn a_change_of_the_object_ends_the_wait() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    state.take(now, &unlimited);
    state.done(key("a"), &failed(None), now, 0.0);
    assert_eq!(state.take(now, &unlimited), None);
    state.add(Request::normal(key("a")), now);
    assert_eq!(state.take(now, &unlimited), Some(key("a")));
    assert_eq!(state.next_due(), None, "its timer is removed");
}

#[test]
fn b143_b144_sizes_are_counted_by_kind() {
    let (mut state, now) = (state(), Instant::now());
    for name in ["a", "b", "c"] {
        state.add(Request::normal(key(name)), now);
    }
    state.add(Request::high(key("a")), now);
    state.add(
        Request::normal(RequestKey::Group(ObjectKey::new("ns", "g"))),
        now,
    );
    state.take(now, &unlimited);
    state.take(now, &unlimited);
    state.done(key("b"), &failed(None), now, 0.0);
    assert_eq!(
        state.sizes(),
        [
            ("LoadBalancerDriver", 0, 0),
            ("LoadBalancer", 0, 0),
            ("BackendGroup", 1, 0),
            ("BackendRecord", 1, 1),
            ("Bind", 0, 0),
            ("Pod", 0, 0),
            ("Service", 0, 0),
        ],
        "requests that wait for a retry are neither"
    );
}

#[test]
fn every_key_is_of_a_kind_that_is_counted() {
    let name = ObjectKey::new("ns", "a");
    for key in [
        RequestKey::Driver(name.clone()),
        RequestKey::LoadBalancer(name.clone()),
        RequestKey::Service(name.clone()),
        RequestKey::Group(name.clone()),
        RequestKey::Record(name),
    ] {
        assert!(RequestKey::KINDS.contains(&key.kind()), "{key}");
    }
}

#[test]
fn batched_requests_are_collected() {
    let (mut state, now) = (state(), Instant::now());
    for _ in 0..3 {
        state.add(Request::batched(key("a")), now);
    }
    assert_eq!(state.take(now, &unlimited), None);
    assert_eq!(state.take(now + BATCH_DELAY, &unlimited), Some(key("a")));
    state.add(Request::batched(key("a")), now + BATCH_DELAY);
    state.done(key("a"), &Ok(Action::AwaitChange), now + BATCH_DELAY, 0.0);
    assert_eq!(state.take(now + BATCH_DELAY, &unlimited), None);
    assert_eq!(
        state.take(now + BATCH_DELAY * 2, &unlimited),
        Some(key("a"))
    );
}

/// Requests whose names begin with `slow` call one driver, which takes two calls at a time.
fn slow_driver(key: &RequestKey) -> ConcurrencyLimits {
    let driver = ConcurrencyKey::Driver(ObjectKey::new("kube-system", "slow"));
    let is_slow = key.object().name.starts_with("slow");
    let slots: Vec<_> = is_slow.then_some((driver, 2)).into_iter().collect();
    slots.into()
}

#[test]
fn u39_thousands_of_polled_requests_are_all_taken_when_they_are_due() {
    let (mut state, now) = (state(), Instant::now());
    let second = Duration::from_secs(1);
    for number in 0..5000 {
        state.add(Request::normal(key(&number.to_string())), now);
    }
    while let Some(key) = state.take(now, &unlimited) {
        state.done(key, &Ok(Action::RequeueAfter(second)), now, 0.0);
    }
    let due = std::iter::from_fn(|| state.take(now + second, &unlimited));
    assert_eq!(due.count(), 5000);
}

#[test]
fn u38_a_busy_driver_delays_no_other() {
    let (mut state, now) = (state(), Instant::now());
    for name in ["slow-1", "slow-2", "slow-3", "slow-4", "other"] {
        state.add(Request::normal(key(name)), now);
    }
    let order: Vec<_> = std::iter::from_fn(|| state.take(now, &slow_driver)).collect();
    assert_eq!(order, [key("slow-1"), key("slow-2"), key("other")]);
    state.done(key("slow-1"), &Ok(Action::AwaitChange), now, 0.0);
    assert_eq!(state.take(now, &slow_driver), Some(key("slow-3")));
    assert_eq!(state.take(now, &slow_driver), None);
    for name in ["slow-2", "slow-3"] {
        state.done(key(name), &Ok(Action::AwaitChange), now, 0.0);
    }
    assert_eq!(state.take(now, &slow_driver), Some(key("slow-4")));
    assert_eq!(state.take(now, &slow_driver), None);
    state.done(key("slow-4"), &Ok(Action::AwaitChange), now, 0.0);
    state.done(key("other"), &Ok(Action::AwaitChange), now, 0.0);
    assert!(state.concurrency.is_empty(), "nothing is left behind");
}

/// Requests whose names begin with `slow-LB`, whose driver takes several backends of a load balancer at once.
fn batching_driver(key: &RequestKey) -> ConcurrencyLimits {
    let name = &key.object().name;
    ConcurrencyLimits {
        batch: name.as_bytes().get(5).map(|lb| u64::from(*lb)),
        ..slow_driver(key)
    }
}

#[test]
fn d120_what_waits_for_a_driver_with_batches_goes_by_load_balancer_and_each_has_its_turn() {
    let (mut state, now) = (state(), Instant::now());
    // Two take the driver's slots; the others wait, of three load balancers in turn.
    for number in 0..302 {
        let lb = ["a", "b", "c"][number % 3];
        state.add(Request::normal(key(&format!("slow-{lb}{number}"))), now);
    }
    let mut order = String::new();
    let mut running = VecDeque::new();
    loop {
        while let Some(key) = state.take(now, &batching_driver) {
            order.push(char::from(key.object().name.as_bytes()[5]));
            running.push_back(key);
        }
        let Some(key) = running.pop_front() else {
            break;
        };
        state.done(key, &Ok(Action::AwaitChange), now, 0.0);
    }
    let run = |lb: &str, length| lb.repeat(length);
    let turns = [run("c", 60), run("a", 60), run("b", 60)].concat();
    let rest = [run("c", 40), run("a", 40), run("b", 40)].concat();
    assert_eq!(order, ["ab", &turns, &rest].concat());
    assert!(state.concurrency.is_empty(), "nothing is left behind");
}

#[test]
fn high_priority_also_comes_first_among_requests_that_wait_for_a_slot() {
    let (mut state, now) = (state(), Instant::now());
    for name in ["slow-1", "slow-2", "slow-3", "slow-4"] {
        state.add(Request::normal(key(name)), now);
    }
    while state.take(now, &slow_driver).is_some() {}
    state.add(Request::high(key("slow-4")), now);
    assert_eq!(state.take(now, &slow_driver), None);
    state.done(key("slow-1"), &Ok(Action::AwaitChange), now, 0.0);
    assert_eq!(state.take(now, &slow_driver), Some(key("slow-4")));
    state.done(key("slow-2"), &Ok(Action::AwaitChange), now, 0.0);
    assert_eq!(state.take(now, &slow_driver), Some(key("slow-3")));
    assert_eq!(state.take(now, &slow_driver), None, "slow-4 is taken once");
}

#[test]
fn a_request_frees_the_slots_that_it_took_even_if_its_keys_changed() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("slow-1")), now);
    state.take(now, &slow_driver);
    state.done(key("slow-1"), &Ok(Action::RequeueNow), now, 0.0);
    assert_eq!(state.take(now, &unlimited), Some(key("slow-1")));
    assert!(state.concurrency.is_empty());
}

#[test]
fn a_write_to_an_outdated_object_is_no_failure() {
    let (mut state, now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    state.take(now, &unlimited);
    state.done(key("a"), &Err(WriteError::Stale.into()), now, 0.0);
    assert_eq!(state.next_due(), Some(now + Duration::from_millis(200)));
    assert_eq!(
        state.retry_delay(&key("a"), false, 0.0),
        Duration::from_secs(10)
    );
}

#[test]
fn d35_conflicts_in_a_row_back_off() {
    let (mut state, mut now) = (state(), Instant::now());
    state.add(Request::normal(key("a")), now);
    let mut conflict = |state: &mut State| {
        state.take(now, &unlimited).unwrap();
        state.done(key("a"), &Err(WriteError::Stale.into()), now, 0.0);
        let due = state.next_due().unwrap();
        let delay = due - now;
        now = due;
        delay.as_millis()
    };
    let delays: Vec<_> = (0..12).map(|_| conflict(&mut state)).collect();
    assert_eq!(delays[..4], [200, 400, 800, 1600]);
    assert_eq!(delays[10..], [120_000, 120_000]);
    state.take(now, &unlimited).unwrap();
    state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
    assert!(state.conflicts.is_empty(), "nothing is left behind");
}

#[test]
fn b159_a_slot_that_a_waiting_request_no_longer_needs_goes_to_the_next_one() {
    let (mut state, now) = (state(), Instant::now());
    let driver = ConcurrencyKey::Driver(ObjectKey::new("kube-system", "driver"));
    let serial = ConcurrencyKey::LoadBalancers(ObjectKey::default(), [("id", "1")].into());
    let both =
        |_: &RequestKey| ConcurrencyLimits::from(vec![(serial.clone(), 1), (driver.clone(), 2)]);
    for name in ["a", "b", "c"] {
        state.add(Request::normal(key(name)), now);
    }
    assert_eq!(state.take(now, &both), Some(key("a")));
    assert_eq!(state.take(now, &both), None);
    state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
    let moved = |request: &RequestKey| {
        let mut limits = both(request);
        limits.slots.retain(|_| &*request.object().name != "b");
        limits
    };
    assert_eq!(state.take(now, &moved), Some(key("b")));
    assert_eq!(state.take(now, &moved), Some(key("c")));
    state.done(key("b"), &Ok(Action::AwaitChange), now, 0.0);
    state.done(key("c"), &Ok(Action::AwaitChange), now, 0.0);
    assert!(state.concurrency.is_empty());
}
