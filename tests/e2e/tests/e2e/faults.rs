//! Requests go wrong, at the API server or at the driver: nothing is lost and nothing is left.

use crate::side_by_side::side_by_side;
use crate::whole_life::Life;
use http::StatusCode;
use lbcf_e2e::{Call, Outages, Reaction, World, faulty, scrambled};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEEDS: u64 = 5;

/// Every life with every seed.
fn scenes() -> impl Iterator<Item = (Life, u64)> {
    let seeds = |life| (0..SEEDS).map(move |seed| (life, seed));
    Life::ALL.into_iter().flat_map(seeds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_server_goes_wrong_and_nothing_is_lost_or_left() {
    side_by_side(scenes(), |(life, seed)| async move {
        let world = World::new().await;
        let (client, faults) = faulty(&world.cluster, seed);
        let controller = world.start_controller_with(client, World::quick());
        life.live(&world).await;
        controller.abort();
        assert!(faults.count() > 10, "{} faults", faults.count());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_server_goes_wrong_with_admission_in_force_and_nothing_is_lost_or_left() {
    side_by_side(
        scenes().filter(|(_, seed)| *seed < 2),
        |(life, seed)| async move {
            let world = World::bare().await;
            world.install_admission().await;
            let (client, faults) = faulty(&world.cluster, seed + 50);
            let controller = world.start_admitting_with(client, World::quick()).await;
            life.live(&world).await;
            controller.task.abort();
            assert!(faults.count() > 10, "{} faults", faults.count());
        },
    )
    .await;
}

/// What a driver has to offer that is no proper answer.
fn spoilt(seed: u64, number: u64) -> Reaction {
    let ok = |body: &str| (StatusCode::OK, body.to_owned());
    let (status, body) = match scrambled(seed, number) % 32 {
        0 => (StatusCode::BAD_GATEWAY, "no driver here".to_owned()),
        1 => return Reaction::DoneBut(StatusCode::GATEWAY_TIMEOUT, "too late".to_owned()),
        2 => {
            let (status, body) = ok(r#"{"status":"Succ","#);
            return Reaction::DoneBut(status, body);
        }
        3 => {
            let (status, body) = ok(r#"{"status":"succeeded"}"#);
            return Reaction::DoneBut(status, body);
        }
        4 => ok("<html>not JSON</html>"),
        5 => ok(r#"{"status":"Done"}"#),
        6 => ok(r#"{"status":"Fail","msg":"not today","succ":false}"#),
        7 => ok(r#"{"status":"Running","succ":false,"minRetryDelayInSeconds":"0"}"#),
        8 => {
            // It is done, and the driver does not know it yet.
            let (status, body) = ok(r#"{"status":"Running","succ":false}"#);
            return Reaction::DoneBut(status, body);
        }
        9 => ok(r#"{"status":"Fail","succ":false,"minRetryDelayInSeconds":"soon"}"#),
        10 => return Reaction::DoneInSilence,
        11 => return Reaction::Lost,
        12 => return Reaction::After(Duration::from_millis(150)),
        _ => return Reaction::Pass,
    };
    Reaction::Instead(status, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_drivers_answers_go_wrong_and_nothing_is_lost_or_left() {
    side_by_side(scenes(), |(life, seed)| async move {
        let mut world = World::bare().await;
        // Answers that never come are given up after this.
        world.webhook_timeout = Some(Duration::from_secs(1));
        let front = world.put_front().await;
        let faults = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&faults);
        front.rule(move |call| {
            let reaction = spoilt(seed, call.number as u64);
            if !matches!(reaction, Reaction::Pass) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            reaction
        });
        let client = world.cluster.client_as("lbcf-controller");
        let controller = world.start_controller_with(client, World::quick());
        life.live(&world).await;
        controller.abort();
        let faults = faults.load(Ordering::SeqCst);
        assert!(faults > 2, "{faults} faults");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_driver_is_down_again_and_again_and_nothing_is_lost_or_left() {
    let outages = side_by_side(scenes(), |(life, seed)| async move {
        let mut world = World::bare().await;
        let (controller, calls) = world.start_counting_controller(World::quick());
        let outages = Outages::of(&mut world, calls, seed);
        life.live(&world).await;
        controller.abort();
        outages.count()
    })
    .await;
    // How many there are depends on how fast a life is lived.
    assert!(outages.iter().all(|count| *count > 0), "{outages:?}");
    let total: usize = outages.iter().sum();
    assert!(total > 2 * outages.len(), "{outages:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u39_the_driver_takes_long_over_everything_and_nothing_is_lost_or_left() {
    side_by_side(Life::ALL, |life| async move {
        let mut world = World::new().await;
        let front = world.put_front().await;
        // Each task is still running the first times that it is asked about, and then again.
        let asked: Mutex<HashMap<String, u64>> = Mutex::default();
        front.rule(move |call: &Call| {
            if call.record_id().is_empty() {
                return Reaction::Pass;
            }
            let mut asked = asked.lock().unwrap();
            let times = asked.entry(call.record_id().to_owned()).or_default();
            *times += 1;
            if (*times).is_multiple_of(6) {
                return Reaction::Pass;
            }
            Reaction::says(&json!({"status": "Running", "msg": "still at it"}))
        });
        let client = world.cluster.client_as("lbcf-controller");
        let controller = world.start_controller_with(client, World::quick());
        life.live(&world).await;
        controller.abort();
        assert!(front.count() > 6 * 6, "{} calls", front.count());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_go_wrong_and_nothing_is_lost_or_left() {
    side_by_side(scenes(), |(life, seed)| async move {
        let mut world = World::bare().await;
        world.webhook_timeout = Some(Duration::from_secs(1));
        let front = world.put_front().await;
        front.rule(move |call| spoilt(seed + 100, call.number as u64));
        let (client, faults) = faulty(&world.cluster, seed + 100);
        let controller = world.start_controller_with(client, World::quick());
        life.live(&world).await;
        controller.abort();
        assert!(faults.count() > 10, "{} faults", faults.count());
    })
    .await;
}
