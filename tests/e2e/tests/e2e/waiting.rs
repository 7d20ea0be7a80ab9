//! Whatever waits says why, in a condition and in an event (d44), and again from time to time (d45).

mod binds;
mod failed_writes;
mod groups;
mod load_balancers;
mod reasons;
mod records;
mod repeated;
mod running;
mod unreachable;

use k8s_openapi::api::core::v1::Event;
use lbcf_controller::Options;
use lbcf_controller::api::{BackendRecord, Condition, NamespacedKind};
use lbcf_e2e::manifests::NAMESPACE;
use lbcf_e2e::{CONTROLLER, DriverProxy, ProxyAction, World, until, until_is};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinHandle;

/// A world without admission, with a driver behind a proxy, and a controller.
async fn setup(options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let controller = world.start(options);
    world.create_driver().await;
    (world, proxy, controller)
}

/// Everything that lasts for a moment is reported, and counts as long.
fn impatient() -> Options {
    Options {
        long_wait: Duration::from_millis(100),
        ..World::quick()
    }
}

/// Answers this webhook with `Fail` or `Running`.
fn respond(proxy: &DriverProxy, webhook: &'static str, status: &'static str) {
    proxy.rule(move |call| {
        if call.webhook == webhook {
            ProxyAction::reply_json(&json!({"status": status, "msg": "made so by the test"}))
        } else {
            ProxyAction::Forward
        }
    });
}

/// A condition of an object.
async fn condition<K>(world: &World, name: &str, type_: &str) -> Option<Condition>
where
    K: NamespacedKind + Serialize,
{
    let object = world.api::<K>(NAMESPACE).get_opt(name).await.unwrap()?;
    let object = serde_json::to_value(object).unwrap();
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == type_)?;
    Some(serde_json::from_value(found.clone()).unwrap())
}

/// Waits until an object's condition has this status and reason, and returns the message.
async fn until_condition<K>(
    world: &World,
    name: &str,
    type_: &str,
    (status, reason): (&str, &str),
) -> String
where
    K: NamespacedKind + Serialize,
{
    let what = format!("{type_} of {name}");
    let expected = Some((status.to_owned(), reason.to_owned()));
    until_is(&what, expected, async || {
        let condition = condition::<K>(world, name, type_).await?;
        Some((format!("{:?}", condition.status), condition.reason))
    })
    .await;
    let condition = condition::<K>(world, name, type_).await;
    condition
        .map(|condition| condition.message)
        .unwrap_or_default()
}

/// Like [`until_condition`] for an object that waits, and waits for an event that reports the same.
async fn until_waits<K>(
    world: &World,
    name: &str,
    type_: &str,
    status: &str,
    reason: &str,
) -> String
where
    K: NamespacedKind + Serialize,
{
    let message = until_condition::<K>(world, name, type_, (status, reason)).await;
    assert!(!message.is_empty(), "{name} has no message");
    until_event(world, &K::kind(&()), name, reason).await;
    message
}

/// Waits for an event about an object.
async fn until_event(world: &World, kind: &str, name: &str, reason: &str) -> Event {
    until(
        &format!("an event {reason} about {kind} {name}"),
        async || events(world, kind, name, reason).await.pop(),
    )
    .await
}

async fn events(world: &World, kind: &str, name: &str, reason: &str) -> Vec<Event> {
    let mut events = world.all::<Event>().await;
    events.retain(|event| {
        event.involved_object.kind.as_deref() == Some(kind)
            && event.involved_object.name.as_deref() == Some(name)
            && event.reason.as_deref() == Some(reason)
    });
    events
}

/// The name of the only record.
async fn record_name(world: &World) -> String {
    until("there is one record", async || {
        let mut records: Vec<BackendRecord> = world.all().await;
        let record = records.pop().filter(|_| records.is_empty())?;
        record.metadata.name
    })
    .await
}
