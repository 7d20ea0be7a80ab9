//! What `kubectl get` shows of LBCF's kinds.

use http::Request;
use http::header::ACCEPT;
use lbcf_controller::api::{Bind, LoadBalancer};
use lbcf_e2e::manifests::{self, BIND, LB, NAMESPACE};
use lbcf_e2e::{ProxyAction, World, kill, until, until_is};
use serde_json::{Value, json};
use std::time::Duration;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The cells of a kind's only object by the names of their columns, without its age. Columns of
/// `-o wide` end with `(wide)`.
async fn cells(world: &World, path: &str) -> Value {
    let uri = format!("/apis/lbcf.tkestack.io/{path}");
    let request = Request::get(uri).header(ACCEPT, TABLE).body(Vec::new());
    let table: Value = world.client().request(request.unwrap()).await.unwrap();
    let columns = table["columnDefinitions"].as_array().unwrap();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(table["rows"].as_array().unwrap().len(), 1, "{table}");
    let named = columns.iter().zip(cells).map(|(column, cell)| {
        let name = column["name"].as_str().unwrap();
        let is_wide = column["priority"] != 0;
        let suffix = if is_wide { " (wide)" } else { "" };
        (format!("{name}{suffix}"), cell.clone())
    });
    named.filter(|(name, _)| name != "Age").collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d43_the_address_that_a_driver_returns_in_lb_info_is_a_column() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start_controller();
    proxy.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" => ProxyAction::reply_json(&json!({
            "status": "Succ",
            "lbInfo": {"lbID": "lb-1234", "lblID": "lbl-2234", "address": "203.0.113.7"},
        })),
        _ => ProxyAction::Forward,
    });
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    let expected = json!({
        "Name": LB, "Driver": "lbcf-clb", "Created": "True", "Synced": "True",
        "Address": "203.0.113.7", "Message (wide)": null,
    });
    let path = format!("v1beta1/namespaces/{NAMESPACE}/loadbalancers");
    until_is("the columns", expected, async || cells(&world, &path).await).await;
    // The address is a part of the identity, which the driver receives again.
    let weight = json!({"spec": {"attributes": {"chargeType": "TRAFFIC"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, weight).await;
    let info = until("the load balancer is ensured", async || {
        let calls = proxy.calls_of("ensureLoadBalancer");
        Some(calls.first()?.body["lbInfo"].clone())
    })
    .await;
    assert_eq!(info["address"], "203.0.113.7");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d8_the_columns_of_a_bind_count_load_balancers_and_backends() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start(World::quick());
    proxy.rule(|call| match call.body["attributes"]["name"].as_str() {
        Some("right") if call.webhook == "createLoadBalancer" => {
            ProxyAction::reply_json(&json!({"status": "Fail", "msg": "the quota is used up"}))
        }
        _ => ProxyAction::Forward,
    });
    world.create_driver().await;
    world.create_pods(2).await;
    world
        .create(&manifests::bind(BIND, &["left", "right"]))
        .await;
    let path = format!("v1/namespaces/{NAMESPACE}/binds");
    let columns = |ready: i32, registered: i32, reason: &str, message: &str| {
        json!({
            "Name": BIND, "LoadBalancers": 2, "Ready": ready, "Backends": 2,
            "Registered": registered, "Message": message, "Reason (wide)": reason,
        })
    };
    let shown = async || cells(&world, &path).await;
    let failing = "right: the quota is used up";
    let failed = columns(1, 2, "LoadBalancersNotReady", failing);
    until_is("the columns", failed, shown).await;
    proxy.forward_all();
    let done = columns(2, 2, "AllRegistered", "");
    until_is("the columns", done, shown).await;
    world.set_ready("web-1", false).await;
    let unready = "some selected pods are not Ready, or have no address";
    let unready = columns(2, 1, "PodsNotReady", unready);
    until_is("the columns", unready, shown).await;
    let none = json!({"spec": {"pods": {"byLabel": {"selector": {"app": "none"}}}}});
    world.patch::<Bind>(NAMESPACE, BIND, none).await;
    let nothing = "spec.pods.byLabel selects no pod in namespace lbcf-e2e-web: app=none";
    let mut expected = columns(2, 0, "NoPodsSelected", nothing);
    expected["Backends"] = json!(0);
    until_is("the columns", expected, shown).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d8_b114_a_binds_counts_cost_at_most_one_write_in_the_status_interval() {
    const PODS: usize = 20;
    let world = World::bare().await;
    // Longer than the test: what is written later is written once.
    let options = lbcf_controller::Options {
        status_interval: Duration::from_secs(3600),
        ..World::options()
    };
    let controller = world.start(options);
    world.create_driver().await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_entry(BIND, "left", "Ready", ("True", "")).await;
    let before = world.cost();
    world.create_pods(PODS).await;
    world.until_records(PODS).await;
    // The entry was written less than an hour ago.
    assert_eq!(world.cost_since(&before).writes("binds"), 0);
    kill(controller).await;

    let before = world.cost();
    let _controller = world.start(World::options());
    until("the counts are written", async || {
        let bind = world.get::<Bind>(BIND).await;
        let status = bind.status.unwrap();
        (status.registered_backends == 20 && status.backends == 20).then_some(())
    })
    .await;
    assert_eq!(world.cost_since(&before).writes("binds"), 1);
}
