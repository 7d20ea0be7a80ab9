//! Load balancers come, change, and do not hold each other up.

use super::{
    CONTROLLER, LEFT, RIGHT, bare_bound, bare_stage, bound, delete_all, stage, start, webhooks,
    writes,
};
use http::StatusCode;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{Call, Reaction, until, until_is};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn running() -> Reaction {
    Reaction::says(&json!({"status": "Running", "msg": "still at it"}))
}

fn fail() -> Reaction {
    Reaction::says(&json!({"status": "Fail", "msg": "no more quota"}))
}

/// Whether a call of the load balancer's own webhooks is about the one of this name.
fn is_of(call: &Call, lb: &str) -> bool {
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
    let (world, front, _controller) = bare_bound(2).await;
    for round in 1..=3 {
        let (seen, before) = (front.count(), world.cluster.requests());
        let width = round.to_string();
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
        assert_eq!(webhooks(&front, seen), ["ensureLoadBalancer"]);
        let call = &front.calls()[seen];
        let entry = world.entry(BIND, RIGHT).await.unwrap();
        assert_eq!(
            call.body["lbInfo"],
            serde_json::to_value(entry.lb_info).unwrap()
        );
        assert_eq!(writes(&world, &before, "binds"), 1);
        assert_eq!(writes(&world, &before, "backendrecords"), 0);
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b127_a_load_balancer_that_is_added_gets_the_backends_and_leaves_the_others_alone() {
    let (world, front, _controller) = bare_stage(2).await;
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world.until_records(2).await;
    let seen = front.count();
    let more = both([json!({"name": LEFT}), json!({"name": RIGHT})]);
    world.patch::<Bind>(NAMESPACE, BIND, more).await;
    until_is("what is bound", 2, async || world.bound_to(RIGHT).len()).await;
    world.until_records(4).await;
    let mut called = webhooks(&front, seen);
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
async fn u5_a_load_balancer_that_is_not_made_holds_up_nobody() {
    let (world, front, _controller) = stage(2).await;
    front.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" if is_of(call, "slow") => running(),
        "createLoadBalancer" if is_of(call, "bad") => fail(),
        _ => Reaction::Pass,
    });
    world
        .create(&manifests::bind(BIND, &["slow", LEFT, "bad"]))
        .await;
    until_is("what is bound", 2, async || world.bound_to(LEFT).len()).await;
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
    // What changes goes through while the others are stuck.
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_is("what is bound", 1, async || world.bound_to(LEFT).len()).await;
    world.create(&manifests::pod("web-2")).await;
    until_is("what is bound", 2, async || world.bound_to(LEFT).len()).await;
    until("both have been asked again", async || {
        let creating = front.calls_of("createLoadBalancer");
        let of = |lb| creating.iter().filter(|call| is_of(call, lb)).count();
        (of("slow") >= 3 && of("bad") >= 3).then_some(())
    })
    .await;
    front.behave();
    for lb in ["slow", "bad"] {
        until_is("what is bound", 2, async || world.bound_to(lb).len()).await;
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
        assert_eq!(world.entry(BIND, lb).await.unwrap().retry_after, None);
    }
    world.until_records(6).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u5_b130_a_load_balancer_that_is_not_ensured_holds_up_nobody() {
    let (world, front, _controller) = bound(2).await;
    front.rule(|call| match call.webhook.as_str() {
        "ensureLoadBalancer" if is_of(call, LEFT) => running(),
        "ensureLoadBalancer" => fail(),
        _ => Reaction::Pass,
    });
    let wider =
        |width: &str| both([LEFT, RIGHT].map(|lb| json!({"name": lb, "max-bandwidth-out": width})));
    world.patch::<Bind>(NAMESPACE, BIND, wider("1")).await;
    world
        .until_entry(BIND, RIGHT, "Ready", ("False", "EnsureFailed"))
        .await;
    until("the slow one was asked again", async || {
        let ensuring = front.calls_of("ensureLoadBalancer");
        let of_left = ensuring.iter().filter(|call| is_of(call, LEFT));
        (of_left.count() >= 3).then_some(())
    })
    .await;
    // b130: it was ready, and stays so while its attributes change.
    world.until_entry(BIND, LEFT, "Ready", ("True", "")).await;
    for lb in [LEFT, RIGHT] {
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
    }
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.create(&manifests::pod("web-2")).await;
    world.create(&manifests::pod("web-3")).await;
    for lb in [LEFT, RIGHT] {
        until_is("what is bound", 3, async || world.bound_to(lb).len()).await;
    }
    // One that was not ready says that it is being worked on.
    front.rule(|call| match call.webhook.as_str() {
        "ensureLoadBalancer" => running(),
        _ => Reaction::Pass,
    });
    world
        .until_entry(BIND, RIGHT, "Ready", ("False", "Ensuring"))
        .await;
    front.behave();
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
async fn u30_b39_b129_an_answer_that_is_none_is_told_of_and_asked_for_again() {
    let (world, front, _controller) = stage(1).await;
    let says = |status, body: &str| Reaction::Instead(status, body.into());
    for (number, (answer, reason)) in [
        (
            says(StatusCode::OK, r#"{"status":"Done"}"#),
            "InvalidResponse",
        ),
        (says(StatusCode::OK, "not JSON"), "InvalidResponse"),
        (
            says(StatusCode::INTERNAL_SERVER_ERROR, "broken"),
            "WebhookError",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        println!("{answer:?}");
        let webhook = [
            "createLoadBalancer",
            "ensureLoadBalancer",
            "deleteLoadBalancer",
        ];
        let tried = front.count();
        front.rule(move |call| {
            if call.number < tried + 3 && webhook.contains(&call.webhook.as_str()) {
                answer.clone()
            } else if webhook.contains(&call.webhook.as_str()) {
                running()
            } else {
                Reaction::Pass
            }
        });
        let name = format!("bind-{number}");
        world.create(&manifests::bind(&name, &[LEFT])).await;
        world
            .until_entry(&name, LEFT, "Created", ("False", reason))
            .await;
        // And it is asked again.
        world
            .until_entry(&name, LEFT, "Created", ("False", "Creating"))
            .await;
        front.behave();
        until_is("what is bound", 1, async || world.bound_to(LEFT).len()).await;
        world.delete::<Bind>(NAMESPACE, &name).await;
        world.until_gone::<Bind>(NAMESPACE, &name).await;
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u12_d28_each_load_balancer_and_each_record_is_a_task_of_its_own() {
    let (world, front, _controller) = bare_bound(1).await;
    let wider = both([LEFT, RIGHT].map(|lb| json!({"name": lb, "max-bandwidth-out": "1"})));
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    until("both are ensured", async || {
        (front.calls_of("ensureLoadBalancer").len() == 2).then_some(())
    })
    .await;
    let bind = world.api::<Bind>(NAMESPACE).get(BIND).await.unwrap();
    let uid = bind.metadata.uid.unwrap();
    delete_all(&world).await;
    let of = |webhook: &str| -> Vec<String> {
        let mut ids: Vec<String> = front
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
            "two records are two tasks: {ids:?}"
        );
        assert!(ids[0].starts_with(&format!("{webhook}(")), "{ids:?}");
    }
    let retries: BTreeSet<String> = front
        .calls()
        .iter()
        .map(|call| call.text("retryID").to_owned())
        .collect();
    assert_eq!(
        retries.len(),
        front.count(),
        "each call is a try of its own"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u34_a_driver_that_comes_later_is_waited_for() {
    let (world, _front, _controller) = bare_stage(1).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    let before = world.cluster.requests();
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    for lb in [LEFT, RIGHT] {
        world
            .until_entry(BIND, lb, "Created", ("Unknown", "DriverNotFound"))
            .await;
    }
    let text = world.until_event("Bind", "DriverNotFound").await;
    assert!(text.contains("kube-system/lbcf-clb"), "{text}");
    // Waiting costs nothing.
    assert_eq!(writes(&world, &before, "binds"), 1 + 2);
    world.create(&manifests::driver(&world.driver_url())).await;
    world.until_records(2).await;
    for lb in [LEFT, RIGHT] {
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    // A driver that goes while there is something for it to do is waited for, too.
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
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
async fn b39_a_controller_that_starts_in_the_middle_goes_on() {
    let (world, front, controller) = stage(1).await;
    front.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" => running(),
        _ => Reaction::Pass,
    });
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world
        .until_entry(BIND, LEFT, "Created", ("False", "Creating"))
        .await;
    controller.abort();
    let _ = controller.await;
    front.behave();
    let before = world.cluster.requests();
    let _controller = start(&world);
    world.until_records(1).await;
    world.until_entry(BIND, LEFT, "Ready", ("True", "")).await;
    assert_eq!(writes(&world, &before, "binds"), 1);
    let started = world.cluster.requests().since(&before);
    assert!(started.writes_by(CONTROLLER) >= 4, "{started:?}");
    delete_all(&world).await;
}
