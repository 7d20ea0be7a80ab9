//! Objects that are too large for the cluster's storage together with their status (d47).

use http::StatusCode;
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, Conditions, LoadBalancer};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{ProxyAction, World, kill, until};
use serde_json::{Value, json};

/// With attributes of this length the object fits into the storage, but not twice.
const LARGE: usize = 1_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d47_a_load_balancer_with_large_attributes_from_before_is_finished_and_deleted() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let world = World::without_rules().await;
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    let mut lb = manifests::load_balancer(LB);
    let certificate = "x".repeat(LARGE);
    lb.spec.attributes = [("name", "large"), ("certificate", certificate.as_str())].into();
    world.create(&lb).await;
    until("it is created and has its attributes", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        let status = lb.status?;
        let is_done =
            status.conditions.is_true("Created") && status.conditions.is_true("AttributesSynced");
        is_done.then_some(())
    })
    .await;
    assert!(world.cloud_load_balancer("large").is_some());
    world.upgrade_crds().await;
    // It can be used under the rules that refuse it.
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(1).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    world.delete_basics().await;
    world.until_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d47_an_identity_that_cannot_be_stored_is_reported_and_deleted() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let identity = json!({"lbID": "x".repeat(LARGE)});
    let created = json!({"status": "Succ", "msg": "", "lbInfo": identity});
    let deleted = json!({"status": "Succ", "msg": ""});
    proxy.rule(move |call| match call.webhook.as_str() {
        "createLoadBalancer" => ProxyAction::Reply(StatusCode::OK, created.to_string()),
        "deleteLoadBalancer" => ProxyAction::Reply(StatusCode::OK, deleted.to_string()),
        _ => ProxyAction::Forward,
    });
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::bind(BIND, &["a"])).await;
    let expected = "the load balancer's identity has 1000004 characters; at most 65536 are allowed";
    until("the conditions say so", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        let of_lb = lb.status?.conditions.find("Created")?.clone();
        let of_bind = world.entry(BIND, "a").await?;
        let of_bind = of_bind.conditions.find("Created")?.clone();
        let is_reported = [of_lb, of_bind].iter().all(|condition| {
            condition.reason == "InvalidResponse" && condition.message == expected
        });
        is_reported.then_some(())
    })
    .await;
    world
        .until_event("LoadBalancer", "InvalidCreateLoadBalancer")
        .await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    let calls = proxy.calls();
    let deleted: Vec<_> = calls
        .iter()
        .filter(|call| call.webhook == "deleteLoadBalancer")
        .collect();
    assert!(!deleted.is_empty());
    for call in deleted {
        assert_eq!(call.body["lbInfo"], identity);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d47_an_injected_info_that_cannot_be_stored_is_reported_and_undone() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let injected = json!({"token": "x".repeat(2 * LARGE)});
    let ensured = json!({"status": "Succ", "msg": "", "injectedInfo": injected}).to_string();
    proxy.rule(move |call| match call.webhook.as_str() {
        "ensureBackend" => ProxyAction::ForwardThenReply(StatusCode::OK, ensured.clone()),
        _ => ProxyAction::Forward,
    });
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    let expected = "injectedInfo has 2000005 characters; at most 65536 are allowed";
    until("the condition says so", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let status = records.first()?.status.clone()?;
        let registered = status.conditions.find("Registered")?;
        let is_reported = registered.reason == "InvalidResponse" && registered.message == expected;
        is_reported.then_some(())
    })
    .await;
    // What is registered nevertheless is deregistered with what the driver needs for that.
    let undone = until("it is undone", async || {
        proxy.calls_of("deregisterBackend").into_iter().next()
    })
    .await;
    assert_eq!(undone.body["injectedInfo"], injected);
    proxy.forward_all();
    world.until_records(1).await;
    world.until_pods(1).await;
    world.delete_basics().await;
}

/// The status as an earlier version wrote it.
async fn with_attributes(world: &World) {
    let lb = world.get::<LoadBalancer>(LB).await;
    let earlier = json!({
        "lastSyncedDigest": null,
        "lastSyncedAttributes": lb.spec.attributes,
    });
    world
        .patch_status::<LoadBalancer>(NAMESPACE, LB, earlier)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d47_attributes_in_an_earlier_status_are_understood_and_replaced() {
    let world = World::bare().await;
    let controller = world.start_controller();
    world.settle_basics(1).await;
    let status = async || -> Value {
        let lb = world.get::<LoadBalancer>(LB).await;
        serde_json::to_value(lb.status.unwrap()).unwrap()
    };
    assert!(status().await["lastSyncedDigest"].is_string());
    assert!(status().await["lastSyncedAttributes"].is_null());
    kill(controller).await;
    with_attributes(&world).await;

    let _controller = world.start_controller();
    // Each change of the attributes is one call: the start caused none.
    let patch = json!({"spec": {"attributes": {"max-bandwidth-out": "10"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, patch).await;
    until("the digest replaced the attributes", async || {
        let status = status().await;
        (status["lastSyncedDigest"].is_string() && status["lastSyncedAttributes"].is_null())
            .then_some(())
    })
    .await;
    assert_eq!(world.calls()["ensureLoadBalancer"], 1);
    assert_eq!(
        world.cloud.observe().load_balancers[0].attributes["max-bandwidth-out"],
        "10"
    );
    world.delete_basics().await;
}
