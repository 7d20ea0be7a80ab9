//! Backends whose deregistration takes a while, because connections drain.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendRecord, ConditionStatus, Conditions, condition_types};
use lbcf_e2e::manifests::NAMESPACE;
use lbcf_e2e::{ProxyAction, World, kill, until};
use serde_json::{Value, json};

/// The only record that is being deleted.
async fn deleting(world: &World) -> Option<BackendRecord> {
    let records: Vec<BackendRecord> = world.all().await;
    let mut deleting = records.into_iter();
    deleting.find(|record| record.metadata.deletion_timestamp.is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d71_a_driver_learns_since_when_a_backend_drains_also_from_the_next_controller() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let controller = world.start_controller();
    world.settle_basics(2).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "deregisterBackend" => ProxyAction::reply_json(&json!({"status": "Running"})),
        _ => ProxyAction::Forward,
    });
    let before = world.cost();
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    let record = until("the condition says that it drains", async || {
        let record = deleting(&world).await?;
        let conditions = &record.status.as_ref()?.conditions;
        let registered = conditions.find(condition_types::REGISTERED)?;
        (registered.reason == "Draining").then_some(record)
    })
    .await;
    let since = record.metadata.deletion_timestamp.clone().unwrap().0;
    let status = record.status.unwrap();
    let registered = status.conditions.find(condition_types::REGISTERED).unwrap();
    assert_eq!(registered.status, ConditionStatus::Unknown);
    let message =
        format!("the backend drains since {since:.0}: deregisterBackend responds Running");
    assert_eq!(registered.message, message);
    until("it is asked again", async || {
        (proxy.calls_of("deregisterBackend").len() >= 4).then_some(())
    })
    .await;
    kill(controller).await;
    let asked = proxy.calls_of("deregisterBackend").len();
    let _controller = world.start_controller();
    until("the next controller asks, too", async || {
        (proxy.calls_of("deregisterBackend").len() >= asked + 2).then_some(())
    })
    .await;
    let calls = proxy.calls_of("deregisterBackend");
    let first = Value::from(format!("{since:.0}"));
    for call in &calls {
        assert_eq!(call.body["firstRequestedAt"], first, "{call:?}");
    }
    // Deleting the record and the condition: no response that is Running is stored twice.
    assert_eq!(world.cost_since(&before).writes("backendrecords"), 2);
    assert_eq!(
        world.targets_count(),
        2,
        "it stays until the driver is done"
    );
    let ensured = proxy.calls_of("ensureBackend").len();
    proxy.forward_all();
    world.until_targets(&["web-1"], "50").await;
    until("the record is gone", async || {
        deleting(&world).await.is_none().then_some(())
    })
    .await;
    assert_eq!(proxy.calls_of("ensureBackend").len(), ensured);
}
