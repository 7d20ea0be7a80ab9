//! What groups wait for.

use super::{impatient, setup, until_condition, until_waits};
use http::Request;
use http::header::ACCEPT;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until, until_is};
use serde_json::{Value, json};

const READY: (&str, &str) = ("True", "AllRegistered");

async fn until_group(world: &World, name: &str, reason: &str) -> String {
    until_waits::<BackendGroup>(world, name, "Ready", "False", reason).await
}

async fn until_ready(world: &World, name: &str) {
    let message = until_condition::<BackendGroup>(world, name, "Ready", READY).await;
    assert_eq!(message, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_group_says_which_pods_it_selects_and_that_they_are_not_ready() {
    let (world, proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    let message = until_group(&world, GROUP, "NoPodsSelected").await;
    assert!(message.contains("app=web"), "{message}");
    world.create(&manifests::pod("web-0")).await;
    until_ready(&world, GROUP).await;
    world.set_ready("web-0", false).await;
    until_group(&world, GROUP, "PodsNotReady").await;
    super::respond(&proxy, "ensureBackend", "Fail");
    world.set_ready("web-0", true).await;
    until_group(&world, GROUP, "Registering").await;
    proxy.forward_all();
    until_ready(&world, GROUP).await;
}

/// The columns of the only group.
async fn cells(world: &World) -> Value {
    let uri = format!("/apis/lbcf.tkestack.io/v1beta1/namespaces/{NAMESPACE}/backendgroups");
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let request = Request::get(uri).header(ACCEPT, table).body(Vec::new());
    let table: Value = world.client().request(request.unwrap()).await.unwrap();
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    let named = columns.zip(cells).map(|(column, cell)| {
        let name = column["name"].as_str().unwrap();
        let wide = if column["priority"] == 0 {
            ""
        } else {
            " (wide)"
        };
        (format!("{name}{wide}"), cell.clone())
    });
    named.filter(|(name, _)| name != "Age").collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_the_message_of_a_group_is_a_column() {
    let (world, _proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    let columns = |registered: i32, reason: &str, message: &str| {
        json!({
            "Name": GROUP, "LoadBalancers": "[\"web-lb\"]", "Backends": 1, "Registered": registered,
            "Message": message, "Reason (wide)": reason,
        })
    };
    let missing = columns(
        0,
        "LoadBalancerNotFound",
        "LoadBalancer lbcf-e2e-web/web-lb not found",
    );
    until_is("the columns", missing, async || cells(&world).await).await;
    world.create(&manifests::load_balancer(LB)).await;
    let done = columns(1, "AllRegistered", "");
    until_is("the columns", done, async || cells(&world).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d58_a_pod_that_has_finished_does_not_count() {
    let (world, _proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create_pods(3).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_counts(GROUP, [3, 3, 3, 3]).await;
    for (pod, phase) in [("web-1", "Succeeded"), ("web-2", "Failed")] {
        let not_ready = json!([{"type": "Ready", "status": "False", "reason": "PodCompleted"}]);
        let status = json!({"status": {"phase": phase, "conditions": not_ready}});
        let (pods, params) = (world.api::<Pod>(NAMESPACE), PatchParams::default());
        let patch = Patch::Strategic(status);
        pods.patch_status(pod, &params, &patch).await.unwrap();
    }
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    until_ready(&world, GROUP).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d58_a_selector_without_pods_is_no_warning() {
    let (world, _proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    let reason = "NoPodsSelected";
    let by_label = super::until_event(&world, "BackendGroup", GROUP, reason).await;
    assert_eq!(by_label.type_.as_deref(), Some("Normal"));
    let mut named = manifests::group("named", &[LB]);
    named.spec.pods.as_mut().unwrap().by_label = None;
    named.spec.pods.as_mut().unwrap().by_name = vec!["web-7".to_owned()];
    world.create(&named).await;
    let by_name = super::until_event(&world, "BackendGroup", "named", reason).await;
    assert_eq!(by_name.type_.as_deref(), Some("Warning"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d128_what_waits_quotes_the_cause_that_the_driver_gave() {
    let (world, proxy, _controller) = setup(impatient()).await;
    let until_quoted = async |kind: &str, type_: &str, start: &str| {
        until(&format!("{kind} quotes the cause"), async || {
            let condition = match kind {
                "LoadBalancer" => super::condition::<LoadBalancer>(&world, LB, type_).await?,
                _ => super::condition::<BackendGroup>(&world, GROUP, type_).await?,
            };
            let message = condition.message;
            (message.starts_with(start) && message.ends_with("made so by the test")).then_some(())
        })
        .await;
    };
    world.create(&manifests::pod("web-0")).await;
    super::respond(&proxy, "createLoadBalancer", "Fail");
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_quoted(
        "BackendGroup",
        "Ready",
        "LoadBalancer lbcf-e2e-web/web-lb is not created yet: ",
    )
    .await;
    super::respond(&proxy, "ensureBackend", "Fail");
    until_quoted(
        "BackendGroup",
        "Ready",
        "some BackendRecords are not registered; ",
    )
    .await;
    proxy.forward_all();
    until_ready(&world, GROUP).await;
    super::respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    until_quoted(
        "LoadBalancer",
        "Deleted",
        "waiting until all backends are deregistered",
    )
    .await;
    proxy.forward_all();
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
}
