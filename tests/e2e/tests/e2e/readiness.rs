//! Pods that become unready, and ready again: a deregistration that runs is cancelled, and when most become unready at
//! once, some stay registered.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Conditions, LoadBalancerDriver, condition_types,
};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{DriverProxy, ProxyAction, World, kill, until, until_is};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A driver that drains for as long as `drains` is true, and says that it has these features.
fn drains(proxy: &DriverProxy, features: &'static [&'static str]) -> Arc<AtomicBool> {
    let drains = Arc::new(AtomicBool::new(true));
    let is_draining = Arc::clone(&drains);
    proxy.rule(move |call| match call.webhook.as_str() {
        "healthz" => ProxyAction::reply_json(&json!({"healthy": true, "features": features})),
        "deregisterBackend" if is_draining.load(Ordering::SeqCst) => {
            ProxyAction::reply_json(&json!({"status": "Running"}))
        }
        _ => ProxyAction::Forward,
    });
    drains
}

fn asking() -> Options {
    Options {
        driver_health_period: Some(Duration::from_millis(50)),
        ..World::quick()
    }
}

/// A group of two registered pods, of which web-0 drains because it is not ready.
async fn draining(
    features: &'static [&'static str],
) -> (World, DriverProxy, JoinHandle<()>, Arc<AtomicBool>) {
    let (world, proxy, controller) = World::behind_proxy(asking()).await;
    let drains = drains(&proxy, features);
    until_is("the features", json!(features), async || {
        let driver = world.api::<LoadBalancerDriver>(SYSTEM).get(DRIVER).await;
        json!(driver.unwrap().status.unwrap_or_default().features)
    })
    .await;
    world.create_pods(2).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_registered(2).await;
    world.set_ready("web-0", false).await;
    until("it drains", async || {
        (proxy.calls_of("deregisterBackend").len() >= 2).then_some(())
    })
    .await;
    (world, proxy, controller, drains)
}

/// How often a webhook was called for the pod web-0.
fn calls(proxy: &DriverProxy, webhook: &str) -> usize {
    let calls = proxy.calls_of(webhook).into_iter();
    let address = proxy.calls_of("deregisterBackend")[0].body["backendAddr"].clone();
    calls
        .filter(|call| call.body["backendAddr"] == address)
        .count()
}

/// The names of the records, and whether they are being deleted.
async fn records(world: &World) -> Vec<(String, bool)> {
    let records = world.all::<BackendRecord>().await.into_iter();
    records
        .map(|it| {
            let is_deleting = it.metadata.deletion_timestamp.is_some();
            (it.metadata.name.unwrap_or_default(), is_deleting)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d96_a_backend_that_is_ready_again_is_registered_while_it_drains() {
    let (world, proxy, _controller, _drains) = draining(&["cancel"]).await;
    let before = records(&world).await;
    assert_eq!(calls(&proxy, "ensureBackend"), 1);
    world.set_ready("web-0", true).await;
    let after = until("no record is being deleted", async || {
        let records = records(&world).await;
        let is_over = records.iter().all(|(_, is_deleting)| !is_deleting);
        (is_over && records.len() == 2).then_some(records)
    })
    .await;
    assert_eq!(calls(&proxy, "ensureBackend"), 2, "which cancels the drain");
    let renamed = after.iter().filter(|it| !before.contains(it)).count();
    assert_eq!(renamed, 1, "the name of the other one was taken");
    // The record that took over leaves and comes back in the same way, under the first name.
    let deregistered = calls(&proxy, "deregisterBackend");
    world.set_ready("web-0", false).await;
    until("it drains again", async || {
        (calls(&proxy, "deregisterBackend") > deregistered).then_some(())
    })
    .await;
    world.set_ready("web-0", true).await;
    let names = |records: Vec<(String, bool)>| {
        let mut names: Vec<String> = records.into_iter().map(|it| it.0).collect();
        names.sort();
        names
    };
    let before = names(before);
    until_is("names of records", before, async || {
        names(records(&world).await)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d96_the_next_controller_goes_on_where_the_cancel_was() {
    let (world, proxy, controller, _drains) = draining(&["cancel"]).await;
    kill(controller).await;
    world.set_ready("web-0", true).await;
    let _next = world.start(asking());
    world.until_registered(2).await;
    until_is("records", 2, async || records(&world).await.len()).await;
    assert_eq!(calls(&proxy, "ensureBackend"), 2);
    assert_eq!(world.targets_count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d96_a_driver_that_cannot_cancel_ends_the_deregistration_first() {
    let (world, proxy, _controller, drains) = draining(&[]).await;
    world.set_ready("web-0", true).await;
    let asked = calls(&proxy, "deregisterBackend");
    until("it goes on draining", async || {
        (calls(&proxy, "deregisterBackend") > asked + 3).then_some(())
    })
    .await;
    assert_eq!(calls(&proxy, "ensureBackend"), 1);
    drains.store(false, Ordering::SeqCst);
    until("it is registered again", async || {
        (calls(&proxy, "ensureBackend") == 2).then_some(())
    })
    .await;
    world.until_registered(2).await;
}

/// A group of registered pods that all become unready.
async fn all_unready(options: Options, min_registered: i32) -> (World, JoinHandle<()>) {
    let (world, _, controller) = World::behind_proxy(options).await;
    world.create_pods(PODS).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.min_registered = Some(min_registered);
    world.create(&group).await;
    world.until_registered(PODS).await;
    for number in 0..PODS {
        world.set_ready(&format!("web-{number}"), false).await;
    }
    (world, controller)
}

const PODS: usize = 5;

fn braked(interval: Duration) -> Options {
    Options {
        readiness_brake: interval,
        ..World::quick()
    }
}

async fn until_kept(world: &World, is_kept: bool) {
    until_is("UnreadyKept", is_kept, async || {
        let status = world.get::<BackendGroup>(GROUP).await.status.unwrap();
        status.conditions.is_true(condition_types::UNREADY_KEPT)
    })
    .await;
}

async fn until_count(world: &World, count: usize) {
    until_is("targets", count, async || world.targets_count()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d94_when_most_pods_become_unready_at_once_half_of_them_stay_for_a_while() {
    let long = Duration::from_secs(3600);
    let (world, controller) = all_unready(braked(long), 0).await;
    until_count(&world, 3).await;
    until_kept(&world, true).await;
    world.until_event("BackendGroup", "TooManyUnready").await;
    // Those that left are no records any more, either.
    until_is("records", 3, async || records(&world).await.len()).await;
    kill(controller).await;
    let _next = world.start(braked(long));
    // A pod that is gone is no target, and one that is ready again is registered.
    let names = (0..PODS).map(|number| format!("web-{number}"));
    let registered = world.all::<BackendRecord>().await;
    let is_registered = |name: &String| {
        let pod = |record: &BackendRecord| record.spec.pod_backend.as_ref().unwrap().name == *name;
        registered.iter().any(pod)
    };
    let (kept, left): (Vec<_>, Vec<_>) = names.partition(is_registered);
    world.delete::<Pod>(NAMESPACE, &kept[0]).await;
    until_count(&world, 2).await;
    world.set_ready(&left[0], true).await;
    until_count(&world, 3).await;
    until_kept(&world, true).await;
    world.set_ready(&kept[1], true).await;
    world.set_ready(&kept[2], true).await;
    until_kept(&world, false).await;
    assert_eq!(world.targets_count(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d94_those_that_stay_unready_leave_one_by_one() {
    let brake = braked(Duration::from_millis(300));
    let (world, _controller) = all_unready(brake, 0).await;
    until_count(&world, 0).await;
    world.until_event("BackendGroup", "TooManyUnready").await;
    until_kept(&world, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d95_the_last_registered_backends_stay_if_their_group_asks_for_it() {
    let (world, _controller) = all_unready(braked(Duration::ZERO), 2).await;
    until_count(&world, 2).await;
    until_kept(&world, true).await;
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    until_is("weights", vec!["80".to_owned(); 2], async || {
        world.targets().into_iter().map(|it| it.1).collect()
    })
    .await;
    let none = json!({"spec": {"minRegistered": 0}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, none).await;
    until_count(&world, 0).await;
    until_kept(&world, false).await;
}
