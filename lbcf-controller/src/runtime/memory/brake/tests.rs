use super::*;

const LIMITS: Limits = Limits {
    interval: Duration::from_secs(30),
    min_registered: 0,
};

fn units(numbers: std::ops::Range<usize>) -> BTreeSet<Unit> {
    numbers.map(|n| Unit::from(format!("pod-{n}"))).collect()
}

fn after(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn d94_half_leaves_at_once_and_the_rest_one_by_one() {
    let mut brake = Brake::default();
    let now = Instant::now();
    assert_eq!(brake.release(units(0..3), 10, LIMITS, now), units(0..3));
    assert_eq!(brake.release(units(3..10), 7, LIMITS, now).len(), 2);
    assert_eq!((brake.held().len(), brake.most(5, LIMITS, now)), (5, 0));
    assert_eq!(brake.wait(LIMITS, now), Some(LIMITS.interval));
    let held = brake.held().clone();
    assert_eq!(brake.release(held, 5, LIMITS, after(29)).len(), 0);
    assert_eq!(brake.most(5, LIMITS, after(30)), 1);
    let held = brake.held().clone();
    let leaving = brake.release(held, 5, LIMITS, after(30));
    assert_eq!((leaving.len(), brake.held().len()), (1, 4));
    assert_eq!(brake.most(4, LIMITS, after(59)), 0, "one each interval");
    assert_eq!(brake.most(4, LIMITS, after(60)), 1);
}

#[tokio::test(start_paused = true)]
async fn d94_few_backends_and_a_brake_of_zero_hold_nothing() {
    let now = Instant::now();
    let off = Limits {
        interval: Duration::ZERO,
        ..LIMITS
    };
    for (registered, limits) in [(3, LIMITS), (10, off)] {
        let mut brake = Brake::default();
        let all = units(0..registered);
        assert_eq!(brake.release(all.clone(), registered, limits, now), all);
        assert!(brake.held().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn d94_what_comes_back_makes_room_and_a_quiet_time_ends_the_burst() {
    let mut brake = Brake::default();
    let now = Instant::now();
    assert_eq!(brake.release(units(0..4), 8, LIMITS, now).len(), 4);
    let again = brake.release(units(4..6), 6, LIMITS, after(10));
    assert_eq!(again.len(), 2, "two of the first four are registered again");
    assert_eq!(brake.most(4, LIMITS, after(10)), 0);
    let leaving = brake.release(units(0..2), 4, LIMITS, after(40));
    assert_eq!(leaving.len(), 2, "half of the four that were left");
}

#[tokio::test(start_paused = true)]
async fn d94_another_process_goes_on_with_what_was_held() {
    let now = Instant::now();
    let mut brake = Brake::resumed(5, now);
    assert_eq!(brake.release(units(0..5), 5, LIMITS, now).len(), 0);
    let held = brake.held().clone();
    assert_eq!(brake.release(held, 5, LIMITS, after(30)).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn d95_the_least_number_stays_registered_until_others_are() {
    let limits = Limits {
        interval: Duration::ZERO,
        min_registered: 2,
    };
    let (mut brake, now) = (Brake::default(), Instant::now());
    assert_eq!(brake.release(units(0..3), 3, limits, now).len(), 1);
    assert_eq!(
        brake.most(2, limits, after(600)),
        0,
        "however long it lasts"
    );
    assert_eq!(brake.most(3, limits, now), 1, "another one is registered");
    brake.forget(&"pod-1".into());
    assert_eq!(brake.held(), &units(2..3), "that one is ready again");
}
