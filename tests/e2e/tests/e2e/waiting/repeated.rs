//! Events about what lasts are repeated and counted.

use super::{events, impatient, record_name, respond, setup, until_event};
use k8s_openapi::api::core::v1::Event;
use lbcf_controller::Options;
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use std::time::Duration;

fn repeating() -> Options {
    Options {
        event_repeat: Duration::from_millis(200),
        ..impatient()
    }
}

/// Waits until an event has been counted so often; it stays one event.
async fn until_counted(world: &World, kind: &str, name: &str, reason: &str, count: i32) -> Event {
    until(&format!("{reason} is counted {count} times"), async || {
        let mut events = events(world, kind, name, reason).await;
        assert!(events.len() <= 1, "{events:?}");
        events.pop().filter(|event| event.count >= Some(count))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d45_the_event_of_a_wait_is_repeated_as_long_as_it_lasts() {
    let (world, _proxy, _controller) = setup(repeating()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    let (kind, reason) = ("BackendGroup", "NoPodsSelected");
    let first = until_event(&world, kind, GROUP, reason).await;
    let before = world.cost();
    let repeated = until_counted(&world, kind, GROUP, reason, 3).await;
    assert_eq!(repeated.first_timestamp, first.first_timestamp);
    let cost = world.cost_since(&before);
    assert_eq!(cost.all_writes(), 0, "nothing else is written: {cost:?}");
    // An event that has expired is created again, with its count.
    let count = repeated.count.unwrap_or_default();
    let name = repeated.metadata.name.unwrap_or_default();
    world.delete::<Event>(NAMESPACE, &name).await;
    let again = until_counted(&world, kind, GROUP, reason, count + 1).await;
    assert_eq!(again.first_timestamp, first.first_timestamp);
    assert_ne!(again.metadata.name.as_deref(), Some(name.as_str()));
    // A group that does not wait any more is not reported.
    world.create(&manifests::pod("web-0")).await;
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    until_event(&world, kind, GROUP, "SuccSyncedBackendGroup").await;
    // Absence can only be observed over time.
    let before = world.cost();
    tokio::time::sleep(repeating().event_repeat * 3).await;
    assert_eq!(world.cost_since(&before).requests.event_writes(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d45_the_event_of_a_failure_counts_all_of_them() {
    let (world, proxy, _controller) = setup(repeating()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(1).await;
    let record = record_name(&world).await;
    respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    let (kind, reason) = ("BackendRecord", "FailedDeregister");
    until_counted(&world, kind, &record, reason, 6).await;
    proxy.forward_all();
    world.until_records(0).await;
}
