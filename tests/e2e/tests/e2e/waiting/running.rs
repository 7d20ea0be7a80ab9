//! Webhooks that respond `Running` for long.

use super::{condition, impatient, record_name, respond, setup, until_condition, until_waits};
use lbcf_controller::api::{BackendGroup, BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{kill, until};

const STILL: &str = "StillRunning";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d46_a_record_says_since_when_a_webhook_responds_running() {
    let (world, proxy, controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    respond(&proxy, "ensureBackend", "Running");
    world.create(&manifests::group(GROUP, &[LB])).await;
    let record = record_name(&world).await;
    let until_running = async |status| {
        until_waits::<BackendRecord>(&world, &record, "Registered", status, STILL).await
    };
    let message = until_running("False").await;
    assert!(
        message.starts_with("ensureBackend responds Running since 20"),
        "{message}"
    );
    // It is written once, however often the driver is asked, and by the next process not again.
    let before = world.cost();
    let polled = async |more| {
        let calls = proxy.calls_of("ensureBackend").len();
        until("the driver is called again", async || {
            (proxy.calls_of("ensureBackend").len() >= calls + more).then_some(())
        })
        .await;
    };
    polled(5).await;
    kill(controller).await;
    let _controller = world.start(impatient());
    polled(5).await;
    assert_eq!(world.cost_since(&before).writes("backendrecords"), 0);
    let now = condition::<BackendRecord>(&world, &record, "Registered").await;
    assert_eq!(now.map(|condition| condition.message), Some(message));
    proxy.forward_all();
    until_condition::<BackendRecord>(&world, &record, "Registered", ("True", "")).await;
    respond(&proxy, "deregisterBackend", "Running");
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    let message = until_running("Unknown").await;
    assert!(
        message.starts_with("deregisterBackend responds Running"),
        "{message}"
    );
    proxy.forward_all();
    world
        .until_deleted::<BackendRecord>(NAMESPACE, &record)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d46_a_load_balancer_says_since_when_a_webhook_responds_running() {
    let (world, proxy, _controller) = setup(impatient()).await;
    respond(&proxy, "createLoadBalancer", "Running");
    world.create(&manifests::load_balancer(LB)).await;
    let until_running =
        async |type_| until_waits::<LoadBalancer>(&world, LB, type_, "False", STILL).await;
    let message = until_running("Created").await;
    assert!(
        message.starts_with("createLoadBalancer responds Running since"),
        "{message}"
    );
    proxy.forward_all();
    until_condition::<LoadBalancer>(&world, LB, "Created", ("True", "")).await;
    respond(&proxy, "ensureLoadBalancer", "Running");
    let attributes = serde_json::json!({"spec": {"attributes": {"chargeType": "TRAFFIC"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, attributes).await;
    until_running("AttributesSynced").await;
    respond(&proxy, "deleteLoadBalancer", "Running");
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    until_running("Deleted").await;
    proxy.forward_all();
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
}
