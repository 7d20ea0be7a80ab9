//! When a load balancer that failed is tried again (u29).

use super::{LEFT, RIGHT, bare_setup, bound, delete_all, setup, start};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use lbcf_controller::api::{BackendGroup, Bind, LoadBalancer};
use lbcf_controller::{Options, WallClock};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{DriverProxy, ProxiedCall, ProxyAction, World, kill, until};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The retry delay in the responses of these tests.
const DELAY: Duration = Duration::from_secs(1);

fn fails_with_delay(
    webhook: &'static str,
    delay: Duration,
) -> impl Fn(&ProxiedCall) -> ProxyAction + Send + Sync {
    move |call| {
        if call.webhook == webhook {
            let answer = json!({
                "status": "Fail", "msg": "not now", "minRetryDelayInSeconds": delay.as_secs(),
            });
            ProxyAction::reply_json(&answer)
        } else {
            ProxyAction::Forward
        }
    }
}

/// The times between the calls of a webhook for a load balancer.
fn pauses(proxy: &DriverProxy, webhook: &str, lb: &str) -> Vec<Duration> {
    let calls = proxy.calls_of(webhook);
    let times: Vec<_> = calls
        .iter()
        .filter(|call| call.record_id().ends_with(&format!("-{lb})")))
        .map(|call| call.at)
        .collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Checks that a load balancer is retried after the driver's delay and no earlier, although other
/// load balancers of the Bind change and the controller restarts.
async fn keeps_the_delay(
    world: &World,
    proxy: &DriverProxy,
    controller: JoinHandle<()>,
    webhook: &'static str,
) -> JoinHandle<()> {
    let tries = async |number: usize| {
        until(&format!("try number {number} of {webhook}"), async || {
            (pauses(proxy, webhook, RIGHT).len() + 1 >= number).then_some(())
        })
        .await;
    };
    tries(1).await;
    until("the retry time is stored", async || {
        world.entry(BIND, RIGHT).await?.retry_after
    })
    .await;
    // A backend is registered and deregistered.
    world.create(&manifests::pod("short-lived")).await;
    until("it is registered", async || {
        (world.bound_to(LEFT).len() == 2).then_some(())
    })
    .await;
    world.delete::<Pod>(NAMESPACE, "short-lived").await;
    until("it is deregistered", async || {
        (world.bound_to(LEFT).len() == 1).then_some(())
    })
    .await;
    tries(2).await;
    // The next process keeps the delay as well.
    until("the retry time is stored", async || {
        let at: Timestamp = world
            .entry(BIND, RIGHT)
            .await?
            .retry_after?
            .parse()
            .unwrap();
        (at > Timestamp::now()).then_some(())
    })
    .await;
    kill(controller).await;
    let controller = start(world);
    tries(3).await;
    let pauses = pauses(proxy, webhook, RIGHT);
    assert!(pauses.len() >= 2, "{pauses:?}");
    for pause in pauses {
        assert!(pause >= DELAY, "{webhook} was called after {pause:?}");
    }
    controller
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_creation_is_retried_after_the_drivers_delay() {
    let (world, proxy, controller) = setup(1).await;
    let fails = fails_with_delay("createLoadBalancer", DELAY);
    proxy.rule(move |call| {
        let is_right = call.body["attributes"]["name"] == RIGHT;
        if is_right {
            fails(call)
        } else {
            ProxyAction::Forward
        }
    });
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    let _controller = keeps_the_delay(&world, &proxy, controller, "createLoadBalancer").await;
    proxy.forward_all();
    world.until_records(2).await;
    let last = *pauses(&proxy, "createLoadBalancer", RIGHT).last().unwrap();
    assert!(last >= DELAY, "{last:?}");
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_change_is_retried_after_the_drivers_delay() {
    let (world, proxy, controller) = bound(1).await;
    proxy.rule(fails_with_delay("ensureLoadBalancer", DELAY));
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].attributes = [("name", RIGHT), ("max-bandwidth-out", "1")].into();
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    let _controller = keeps_the_delay(&world, &proxy, controller, "ensureLoadBalancer").await;
    // A user's change does not wait for a delay, even for one that is longer than the deadline.
    let long = Duration::from_secs(3600);
    proxy.rule(fails_with_delay("ensureLoadBalancer", long));
    until("the long delay is stored", async || {
        let at = world.entry(BIND, RIGHT).await?.retry_after?;
        let at: Timestamp = at.parse().unwrap();
        (at > Timestamp::now() + long / 2).then_some(())
    })
    .await;
    proxy.forward_all();
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].attributes = [("name", RIGHT), ("max-bandwidth-out", "2")].into();
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    world.until_entry(BIND, RIGHT, "Ready", ("True", "")).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_deletion_is_retried_after_the_drivers_delay() {
    let (world, proxy, controller) = bound(1).await;
    proxy.rule(fails_with_delay("deleteLoadBalancer", DELAY));
    let left = json!({"spec": {"loadBalancers": [manifests::target(LEFT)]}});
    world.patch::<Bind>(NAMESPACE, BIND, left).await;
    let _controller = keeps_the_delay(&world, &proxy, controller, "deleteLoadBalancer").await;
    proxy.forward_all();
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_a_deletion_does_not_wait_for_the_delay_of_an_update() {
    let (world, proxy, _controller) = bound(1).await;
    let long = json!({"status": "Fail", "msg": "not now", "minRetryDelayInSeconds": 600});
    proxy.rule(move |call| match call.webhook.as_str() {
        "ensureLoadBalancer" => ProxyAction::reply_json(&long),
        _ => ProxyAction::Forward,
    });
    let targets = [LEFT, RIGHT].map(|lb| {
        let mut target = manifests::target(lb);
        target.attributes = [("name", lb), ("max-bandwidth-out", "1")].into();
        target
    });
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    for lb in [LEFT, RIGHT] {
        until("the failure is stored", async || {
            world.entry(BIND, lb).await?.retry_after
        })
        .await;
    }
    let left = json!({"spec": {"loadBalancers": [targets[0]]}});
    world.patch::<Bind>(NAMESPACE, BIND, left).await;
    until("one is removed", async || {
        world.entry(BIND, RIGHT).await.is_none().then_some(())
    })
    .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b138_d22_a_running_operation_is_polled_after_the_drivers_delay() {
    let (world, proxy, _controller) = bare_setup(1).await;
    let attempts: Mutex<HashMap<String, usize>> = Mutex::default();
    proxy.rule(move |call| {
        let mut attempts = attempts.lock().unwrap();
        let times = attempts.entry(operation(call)).or_default();
        *times += 1;
        if *times > 2 {
            return ProxyAction::Forward;
        }
        // A string, as the original documentation has it (d1).
        ProxyAction::reply_json(&json!({"status": "Running", "minRetryDelayInSeconds": "1"}))
    });
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(2).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    delete_all(&world).await;

    let mut of: HashMap<String, Vec<Instant>> = HashMap::new();
    for call in proxy.calls() {
        of.entry(operation(&call)).or_default().push(call.at);
    }
    // Two operations of each load balancer, three of each record.
    assert_eq!(of.len(), 10, "{of:?}");
    for (task, times) in of {
        assert_eq!(times.len(), 3, "{task}");
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_secs(1), "{task} after {pause:?}");
        }
    }
}

/// The webhook and the object: an address is asked for before its record has a uid, which recordIDs have.
fn operation(call: &ProxiedCall) -> String {
    format!("{} {}", call.webhook, call.body["name"])
}

/// A wall clock that the test shifts, by seconds.
fn shifted_clock() -> (Arc<AtomicI64>, WallClock) {
    let shift = Arc::new(AtomicI64::new(0));
    let by = Arc::clone(&shift);
    let clock = WallClock::new(move || {
        let by = SignedDuration::from_secs(by.load(Ordering::SeqCst));
        Timestamp::now().checked_add(by).unwrap()
    });
    (shift, clock)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d57_a_wall_clock_that_is_set_back_delays_no_retry() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let (shift, wall_clock) = shifted_clock();
    let options = Options {
        wall_clock,
        ..World::options()
    };
    let start = || world.start(options.clone());
    let fail = || proxy.rule(fails_with_delay("createLoadBalancer", DELAY));
    let stored = async || {
        until("the retry time is stored", async || {
            world.entry(BIND, LEFT).await?.retry_after
        })
        .await;
    };
    let day = 24 * 3600;
    let controller = start();
    fail();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    stored().await;
    // The process that stored the time goes on.
    shift.fetch_sub(day, Ordering::SeqCst);
    proxy.forward_all();
    world.until_records(1).await;
    // The next process reads what an earlier one stored.
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    fail();
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    stored().await;
    kill(controller).await;
    shift.fetch_sub(day, Ordering::SeqCst);
    proxy.forward_all();
    let _controller = start();
    world.until_records(1).await;
    delete_all(&world).await;
}
