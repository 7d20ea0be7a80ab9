//! Load balancers are added and changed, and do not delay each other.

use super::{LEFT, RIGHT, bare_bound, bare_setup, bound, delete_all, setup, start, webhooks};
use http::StatusCode;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{ProxiedCall, ProxyAction, kill, until, until_is};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn running() -> ProxyAction {
    ProxyAction::reply_json(&json!({"status": "Running", "msg": "in progress"}))
}

fn fail() -> ProxyAction {
    ProxyAction::reply_json(&json!({"status": "Fail", "msg": "no more quota"}))
}

/// Whether a call of a load balancer webhook is about this load balancer.
fn is_of(call: &ProxiedCall, lb: &str) -> bool {
    call.body["attributes"]["name"] == lb
}

fn both(attributes: [Value; 2]) -> Value {
    let mut targets = [LEFT, RIGHT].map(|lb| serde_json::to_value(manifests::target(lb)).unwrap());
    for (target, attributes) in targets.iter_mut().zip(attributes) {
        target["attributes"] = attributes;
    }
    json!({"spec": {"loadBalancers": targets}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b38_u1_u4_u36_changed_attributes_are_one_ensure_with_the_identity() {
    let (world, proxy, _controller) = bare_bound(2).await;
    for version in 1..=3 {
        let (seen, before) = (proxy.count(), world.cost());
        let width = version.to_string();
        let wider = both([
            json!({"name": LEFT}),
            json!({"name": RIGHT, "max-bandwidth-out": width}),
        ]);
        world.patch::<Bind>(NAMESPACE, BIND, wider).await;
        until("the status has it", async || {
            let entry = world.entry(BIND, RIGHT).await?;
            (entry.last_synced_attributes?.get("max-bandwidth-out")? == &width).then_some(())
        })
        .await;
        let lb = world.cloud_load_balancer(RIGHT).unwrap();
        assert_eq!(lb.attributes["max-bandwidth-out"], width);
        assert_eq!(webhooks(&proxy, seen), ["ensureLoadBalancer"]);
        let call = &proxy.calls()[seen];
        let entry = world.entry(BIND, RIGHT).await.unwrap();
        assert_eq!(
            call.body["lbInfo"],
            serde_json::to_value(entry.lb_info).unwrap()
        );
        let cost = world.cost_since(&before);
        assert_eq!(cost.writes("binds"), 1);
        assert_eq!(cost.writes("backendrecords"), 0);
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b127_an_added_load_balancer_gets_the_backends_and_the_others_are_not_called() {
    let (world, proxy, _controller) = bare_setup(2).await;
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world.until_records(2).await;
    let seen = proxy.count();
    let more = both([json!({"name": LEFT}), json!({"name": RIGHT})]);
    world.patch::<Bind>(NAMESPACE, BIND, more).await;
    until_is("bound addresses", 2, async || world.bound_to(RIGHT).len()).await;
    world.until_records(4).await;
    let mut called = webhooks(&proxy, seen);
    called.sort();
    let expected = [
        "createLoadBalancer",
        "ensureBackend",
        "ensureBackend",
        "generateBackendAddr",
        "generateBackendAddr",
    ];
    assert_eq!(called, expected);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u5_a_load_balancer_that_is_not_created_delays_no_other() {
    let (world, proxy, _controller) = setup(2).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" if is_of(call, "slow") => running(),
        "createLoadBalancer" if is_of(call, "bad") => fail(),
        _ => ProxyAction::Forward,
    });
    world
        .create(&manifests::bind(BIND, &["slow", LEFT, "bad"]))
        .await;
    until_is("bound addresses", 2, async || world.bound_to(LEFT).len()).await;
    world
        .until_entry(BIND, "slow", "Created", ("False", "Creating"))
        .await;
    world
        .until_entry(BIND, "bad", "Created", ("False", "CreateFailed"))
        .await;
    let entry = world.entry(BIND, "bad").await.unwrap();
    assert!(entry.retry_after.is_some(), "{entry:?}");
    assert!(
        format!("{:?}", entry.conditions).contains("no more quota"),
        "{entry:?}"
    );
    // Changes are applied to one while the others fail.
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_is("bound addresses", 1, async || world.bound_to(LEFT).len()).await;
    world.create(&manifests::pod("web-2")).await;
    until_is("bound addresses", 2, async || world.bound_to(LEFT).len()).await;
    until("both creations have been retried", async || {
        let creating = proxy.calls_of("createLoadBalancer");
        let of = |lb| creating.iter().filter(|call| is_of(call, lb)).count();
        (of("slow") >= 3 && of("bad") >= 3).then_some(())
    })
    .await;
    proxy.forward_all();
    for lb in ["slow", "bad"] {
        until_is("bound addresses", 2, async || world.bound_to(lb).len()).await;
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
        assert_eq!(world.entry(BIND, lb).await.unwrap().retry_after, None);
    }
    world.until_records(6).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u5_b130_b131_a_load_balancer_that_is_not_ensured_delays_no_other() {
    let (world, proxy, _controller) = bound(2).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "ensureLoadBalancer" if is_of(call, LEFT) => running(),
        "ensureLoadBalancer" => fail(),
        _ => ProxyAction::Forward,
    });
    let wider =
        |width: &str| both([LEFT, RIGHT].map(|lb| json!({"name": lb, "max-bandwidth-out": width})));
    world.patch::<Bind>(NAMESPACE, BIND, wider("1")).await;
    world
        .until_entry(BIND, RIGHT, "Ready", ("False", "EnsureFailed"))
        .await;
    until("the slow one was called again", async || {
        let ensuring = proxy.calls_of("ensureLoadBalancer");
        let of_left = ensuring.iter().filter(|call| is_of(call, LEFT));
        (of_left.count() >= 3).then_some(())
    })
    .await;
    // b130: it stays ready while its attributes change.
    world.until_entry(BIND, LEFT, "Ready", ("True", "")).await;
    for lb in [LEFT, RIGHT] {
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
    }
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.create(&manifests::pod("web-2")).await;
    world.create(&manifests::pod("web-3")).await;
    for lb in [LEFT, RIGHT] {
        until_is("bound addresses", 3, async || world.bound_to(lb).len()).await;
    }
    // A load balancer that was not ready reports that it is being ensured.
    proxy.rule(|call| match call.webhook.as_str() {
        "ensureLoadBalancer" => running(),
        _ => ProxyAction::Forward,
    });
    world
        .until_entry(BIND, RIGHT, "Ready", ("False", "Ensuring"))
        .await;
    proxy.forward_all();
    for lb in [LEFT, RIGHT] {
        until("the status has it", async || {
            let entry = world.entry(BIND, lb).await?;
            let width = entry.last_synced_attributes?;
            (width.get("max-bandwidth-out")? == "1" && entry.retry_after.is_none()).then_some(())
        })
        .await;
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u30_b39_b129_an_invalid_response_is_reported_and_the_call_retried() {
    let (world, proxy, _controller) = setup(1).await;
    let reply = |status, body: &str| ProxyAction::Reply(status, body.into());
    for (number, (response, reason)) in [
        (
            reply(StatusCode::OK, r#"{"status":"Done"}"#),
            "InvalidResponse",
        ),
        (reply(StatusCode::OK, "not JSON"), "InvalidResponse"),
        (
            reply(StatusCode::INTERNAL_SERVER_ERROR, "broken"),
            "WebhookError",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        println!("{response:?}");
        // Each state lasts until the test has seen it.
        let on_creation = |action: ProxyAction| {
            proxy.rule(move |call| match call.webhook.as_str() {
                "createLoadBalancer" => action.clone(),
                _ => ProxyAction::Forward,
            });
        };
        on_creation(response);
        let name = format!("bind-{number}");
        world.create(&manifests::bind(&name, &[LEFT])).await;
        world
            .until_entry(&name, LEFT, "Created", ("False", reason))
            .await;
        on_creation(running());
        world
            .until_entry(&name, LEFT, "Created", ("False", "Creating"))
            .await;
        proxy.forward_all();
        until_is("bound addresses", 1, async || world.bound_to(LEFT).len()).await;
        world.delete::<Bind>(NAMESPACE, &name).await;
        world.until_deleted::<Bind>(NAMESPACE, &name).await;
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u12_b128_d28_each_load_balancer_and_each_record_has_its_own_record_id() {
    let (world, proxy, _controller) = bare_bound(1).await;
    let wider = both([LEFT, RIGHT].map(|lb| json!({"name": lb, "max-bandwidth-out": "1"})));
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    until("both are ensured", async || {
        (proxy.calls_of("ensureLoadBalancer").len() == 2).then_some(())
    })
    .await;
    let bind = world.get::<Bind>(BIND).await;
    let uid = bind.metadata.uid.unwrap();
    delete_all(&world).await;
    let of = |webhook: &str| -> Vec<String> {
        let mut ids: Vec<String> = proxy
            .calls_of(webhook)
            .iter()
            .map(|call| call.record_id().to_owned())
            .collect();
        ids.sort();
        ids
    };
    for webhook in [
        "createLoadBalancer",
        "ensureLoadBalancer",
        "deleteLoadBalancer",
    ] {
        let expected = [LEFT, RIGHT].map(|lb| format!("{webhook}({uid}-{lb})"));
        assert_eq!(of(webhook), expected);
    }
    for webhook in ["generateBackendAddr", "ensureBackend", "deregisterBackend"] {
        let ids = of(webhook);
        assert!(
            ids.len() == 2 && ids[0] != ids[1],
            "two records have two IDs: {ids:?}"
        );
        assert!(ids[0].starts_with(&format!("{webhook}(")), "{ids:?}");
    }
    let retries: BTreeSet<String> = proxy
        .calls()
        .iter()
        .map(|call| call.body["retryID"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        retries.len(),
        proxy.count(),
        "each call has its own retryID"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u34_a_driver_that_is_created_later_is_waited_for() {
    let (world, _proxy, _controller) = bare_setup(1).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    let before = world.cost();
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    for lb in [LEFT, RIGHT] {
        world
            .until_entry(BIND, lb, "Created", ("Unknown", "DriverNotFound"))
            .await;
    }
    let text = world.until_event("Bind", "DriverNotFound").await;
    assert!(text.contains("kube-system/lbcf-clb"), "{text}");
    // Waiting costs no writes.
    assert_eq!(world.cost_since(&before).writes("binds"), 1 + 2);
    world.create(&manifests::driver(&world.driver_url())).await;
    world.until_records(2).await;
    for lb in [LEFT, RIGHT] {
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    // A driver that is removed while it has work to do is waited for, too.
    world.remove_driver_by_hand().await;
    let wider = both([LEFT, RIGHT].map(|lb| json!({"name": lb, "max-bandwidth-out": "1"})));
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    world
        .until_entry(BIND, LEFT, "Ready", ("False", "DriverNotFound"))
        .await;
    world.until_entry(BIND, LEFT, "Created", ("True", "")).await;
    world.create(&manifests::driver(&world.driver_url())).await;
    for lb in [LEFT, RIGHT] {
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b39_a_restarted_controller_continues_a_creation() {
    let (world, proxy, controller) = setup(1).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" => running(),
        _ => ProxyAction::Forward,
    });
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world
        .until_entry(BIND, LEFT, "Created", ("False", "Creating"))
        .await;
    kill(controller).await;
    proxy.forward_all();
    let before = world.cost();
    let _controller = start(&world);
    world.until_records(1).await;
    world.until_entry(BIND, LEFT, "Ready", ("True", "")).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("binds"), 1);
    assert!(cost.all_writes() >= 3, "{cost:?}");
    delete_all(&world).await;
}
