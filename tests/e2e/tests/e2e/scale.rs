//! Many backends.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_e2e::manifests::{self, BIND, GROUP, NAMESPACE, SERVICE};
use lbcf_e2e::{CONTROLLER, ProxyAction, World, until_is};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u38_u44_calls_to_a_driver_are_concurrent_up_to_a_limit() {
    let mut world = World::new().await;
    let proxy = world.start_proxy().await;
    proxy.rule(|_| ProxyAction::Delay(Duration::from_millis(5)));
    let options = Options {
        calls_per_driver: 6,
        ..World::quick()
    };
    let _controller = world.start(options);
    world.apply_basics(60).await;
    world.until_counts(GROUP, [60; 4]).await;
    let most = proxy.max_in_flight();
    assert!((2..=6).contains(&most), "{most} calls at a time");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u39_polling_running_operations_is_not_rate_limited() {
    let mut world = World::new().await;
    let proxy = world.start_proxy().await;
    let asked: Mutex<HashMap<String, u64>> = Mutex::default();
    proxy.rule(move |call| {
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(call.record_id().to_owned()).or_default();
        *times += 1;
        if call.webhook != "ensureBackend" || *times > 4 {
            return ProxyAction::Forward;
        }
        ProxyAction::reply_json(&json!({"status": "Running"}))
    });
    let _controller = world.start(World::quick());
    // 400 polls; client-go's default limit, 10 a second with a burst of 100, would take half a minute.
    world.apply_basics(100).await;
    world.until_counts(GROUP, [100; 4]).await;
    assert_eq!(proxy.calls_of("ensureBackend").len(), 500);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u40_a_change_costs_no_list() {
    let world = World::new().await;
    let _controller = world.start(World::quick());
    world.apply_basics(10).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let nodes = manifests::service_group("nodes", SERVICE, &[manifests::LB]);
    world.create(&nodes).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(22).await;
    world.until_counts(GROUP, [10; 4]).await;
    world.until_counts("nodes", [1, 1, 2, 2]).await;
    let before = world.cluster.requests();
    for number in 10..20 {
        world
            .create(&manifests::pod(&format!("web-{number}")))
            .await;
    }
    world.create_node("more", "192.168.101.1").await;
    world.until_records(43).await;
    for number in 10..20 {
        let name = format!("web-{number}");
        world.delete::<Pod>(NAMESPACE, &name).await;
    }
    world.delete_node("more").await;
    world.until_records(22).await;
    world.until_counts(GROUP, [10; 4]).await;
    let counts = world.cluster.requests().since(&before);
    let of = |verb: &str| counts.count(|key| key.user_agent == CONTROLLER && key.verb == verb);
    assert_eq!(of("list"), 0, "{counts:?}");
    // Each record's pod, and the service of the node's record, which the request contains.
    assert_eq!(of("get"), 21, "{counts:?}");
    world
        .delete::<lbcf_controller::api::Bind>(NAMESPACE, BIND)
        .await;
    until_is("the Bind is deleted", true, async || {
        world.cloud_load_balancer("left").is_none()
    })
    .await;
    world
        .delete::<lbcf_controller::api::BackendGroup>(NAMESPACE, "nodes")
        .await;
    world.delete_basics().await;
}
