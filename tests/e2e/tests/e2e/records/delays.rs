//! Delays that a driver asks for.

use kube::ResourceExt;
use lbcf_controller::api::{BackendRecord, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{ProxyAction, World, until_is};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b138_d22_events_do_not_shorten_a_drivers_delay_but_a_change_of_the_driver_does() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start_controller();
    world.register_basics(1).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "deregisterBackend" => ProxyAction::reply_json(&json!({
            "status": "Running", "msg": "draining", "minRetryDelayInSeconds": 3600,
        })),
        _ => ProxyAction::Forward,
    });
    world.set_ready("web-0", false).await;
    let calls = async || proxy.calls_of("deregisterBackend").len();
    until_is("calls", 1, calls).await;
    let records: Vec<BackendRecord> = world.all().await;
    let [record] = records.as_slice() else {
        panic!("{records:?}");
    };
    // This enqueues the record, which has been reconciled when a later pod is registered.
    let orphaned = json!({"metadata": {"ownerReferences": null}});
    world
        .patch::<BackendRecord>(NAMESPACE, &record.name_any(), orphaned)
        .await;
    world.create(&manifests::pod("web-1")).await;
    until_is("targets", 2, async || world.targets_count()).await;
    assert_eq!(proxy.calls_of("deregisterBackend").len(), 1);

    proxy.forward_all();
    let patch = json!({"spec": {"webhooks": [{"name": "deregisterBackend", "timeout": "9s"}]}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, patch)
        .await;
    world.until_targets(&["web-1"], "50").await;
    world.delete_basics().await;
}
