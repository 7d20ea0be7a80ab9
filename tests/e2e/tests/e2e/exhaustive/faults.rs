//! Requests to the API server or to the driver fail: no state is lost and nothing is left behind.

use crate::concurrently::run_concurrently;
use crate::scenario::Scenario;
use http::StatusCode;
use lbcf_e2e::{Outages, ProxiedCall, ProxyAction, World, faulty, sample, scrambled};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEEDS: u64 = 5;

/// Every scenario with every seed below `seeds`; in the normal run an eighth of the scenarios with one seed.
fn cases(test: &str, seeds: u64) -> Vec<(Scenario, u64)> {
    let count = Scenario::ALL.len();
    // Scenario by scenario, and each begins with another seed, so that the sample has several.
    let seeds_of = |at: usize| {
        let seed = move |number| (Scenario::ALL[at], (number + at as u64) % seeds);
        (0..seeds).map(seed)
    };
    sample(test, (0..count).flat_map(seeds_of), count.div_ceil(8))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_api_requests_lose_and_leave_nothing() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    run_concurrently(
        cases("API requests", SEEDS),
        |(scenario, seed)| async move {
            let world = World::new().await;
            let (client, faults) = faulty(&world.cluster, seed);
            let controller = world.start_controller_with(client, scenario.options());
            scenario.run(&world).await;
            controller.abort();
            assert!(faults.count() > 10, "{} faults", faults.count());
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_api_requests_with_admission_lose_and_leave_nothing() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    run_concurrently(
        cases("API requests with admission", 2),
        |(scenario, seed)| async move {
            let world = World::bare().await;
            world.install_admission().await;
            let (client, faults) = faulty(&world.cluster, seed + 50);
            let controller = world.start_admitting_with(client, scenario.options()).await;
            scenario.run(&world).await;
            controller.task.abort();
            assert!(faults.count() > 10, "{} faults", faults.count());
        },
    )
    .await;
}

/// An improper response, or none.
fn faulty_action(seed: u64, number: u64) -> ProxyAction {
    let ok = |body: &str| (StatusCode::OK, body.to_owned());
    let (status, body) = match scrambled(seed, number) % 32 {
        0 => (StatusCode::BAD_GATEWAY, "no driver here".to_owned()),
        1 => {
            return ProxyAction::ForwardThenReply(
                StatusCode::GATEWAY_TIMEOUT,
                "too late".to_owned(),
            );
        }
        2 => {
            let (status, body) = ok(r#"{"status":"Succ","#);
            return ProxyAction::ForwardThenReply(status, body);
        }
        3 => {
            let (status, body) = ok(r#"{"status":"succeeded"}"#);
            return ProxyAction::ForwardThenReply(status, body);
        }
        4 => ok("<html>not JSON</html>"),
        5 => ok(r#"{"status":"Done"}"#),
        6 => ok(r#"{"status":"Fail","msg":"not today","succ":false}"#),
        7 => ok(r#"{"status":"Running","succ":false,"minRetryDelayInSeconds":"0"}"#),
        8 => {
            // The operation is complete, and the driver reports that it is not.
            let (status, body) = ok(r#"{"status":"Running","succ":false}"#);
            return ProxyAction::ForwardThenReply(status, body);
        }
        9 => ok(r#"{"status":"Fail","succ":false,"minRetryDelayInSeconds":"soon"}"#),
        10 => return ProxyAction::ForwardThenHang,
        11 => return ProxyAction::Hang,
        12 => return ProxyAction::Delay(Duration::from_millis(150)),
        _ => return ProxyAction::Forward,
    };
    ProxyAction::Reply(status, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_webhook_calls_lose_and_leave_nothing() {
    if lbcf_e2e::needs_embedded("failures that are injected") {
        return;
    }
    run_concurrently(
        cases("webhook calls", SEEDS),
        |(scenario, seed)| async move {
            let mut world = World::bare().await;
            // The controller waits this long for responses that never arrive.
            world.webhook_timeout = Some(Duration::from_secs(1));
            let proxy = world.start_proxy().await;
            let faults = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&faults);
            proxy.rule(move |call| {
                let reaction = faulty_action(seed, call.number as u64);
                if !matches!(reaction, ProxyAction::Forward) {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                reaction
            });
            let controller = world.start(scenario.options());
            scenario.run(&world).await;
            controller.abort();
            let faults = faults.load(Ordering::SeqCst);
            assert!(faults > 2, "{faults} faults");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_outages_of_the_driver_lose_and_leave_nothing() {
    if lbcf_e2e::needs_embedded("failures that are injected") {
        return;
    }
    let outages = run_concurrently(cases("outages", SEEDS), |(scenario, seed)| async move {
        let mut world = World::bare().await;
        let (controller, calls) = world.start_counting_controller(scenario.options());
        let outages = Outages::start(&mut world, calls, seed);
        scenario.run(&world).await;
        controller.abort();
        outages.count()
    })
    .await;
    // Their number depends on how fast a scenario runs.
    assert!(outages.iter().all(|count| *count > 0), "{outages:?}");
    let total: usize = outages.iter().sum();
    assert!(total > 2 * outages.len(), "{outages:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u39_a_driver_whose_operations_take_long_loses_and_leaves_nothing() {
    if lbcf_e2e::needs_embedded("failures that are injected") {
        return;
    }
    run_concurrently(Scenario::ALL, |scenario| async move {
        let mut world = World::new().await;
        let proxy = world.start_proxy().await;
        // Each operation reports Running the first five times, again and again.
        let attempts: Mutex<HashMap<String, u64>> = Mutex::default();
        proxy.rule(move |call: &ProxiedCall| {
            if call.record_id().is_empty() {
                return ProxyAction::Forward;
            }
            let mut attempts = attempts.lock().unwrap();
            let times = attempts.entry(call.record_id().to_owned()).or_default();
            *times += 1;
            if (*times).is_multiple_of(6) {
                return ProxyAction::Forward;
            }
            ProxyAction::reply_json(&json!({"status": "Running", "msg": "in progress"}))
        });
        let controller = world.start(scenario.options());
        scenario.run(&world).await;
        controller.abort();
        assert!(proxy.count() > 6 * 6, "{} calls", proxy.count());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_api_requests_and_webhook_calls_lose_and_leave_nothing() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    run_concurrently(
        cases("API requests and webhook calls", SEEDS),
        |(scenario, seed)| async move {
            let mut world = World::bare().await;
            world.webhook_timeout = Some(Duration::from_secs(1));
            let proxy = world.start_proxy().await;
            proxy.rule(move |call| faulty_action(seed + 100, call.number as u64));
            let (client, faults) = faulty(&world.cluster, seed + 100);
            let controller = world.start_controller_with(client, scenario.options());
            scenario.run(&world).await;
            controller.abort();
            assert!(faults.count() > 10, "{} faults", faults.count());
        },
    )
    .await;
}
