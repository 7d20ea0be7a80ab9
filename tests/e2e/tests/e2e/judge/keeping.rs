//! Who stays and who goes.

use super::{JUDGE, Owner, Stage};
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use lbcf_controller::api::{BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{self, LB, NAMESPACE};
use lbcf_e2e::{Gate, Reaction, until, until_is};
use mock_driver::KEEP_REGISTERED;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_d16_the_pods_that_the_driver_names_stay_and_the_others_go() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 3).await;
        let world = &stage.world;
        // The driver keeps those that ask for it.
        let keep = json!({"metadata": {"annotations": {KEEP_REGISTERED: "true"}}});
        world.patch::<Pod>(NAMESPACE, "web-0", keep).await;
        world.set_ready("web-0", false).await;
        world.set_ready("web-1", false).await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        // It is asked with the pods whole.
        let asked = stage.front.calls_of(JUDGE);
        let pod = &asked[0].body["notReadyPods"][0];
        assert!(pod["status"]["podIP"].is_string(), "{pod}");
        world.set_ready("web-1", true).await;
        world
            .until_targets(&["web-0", "web-1", "web-2"], "50")
            .await;
        world.set_ready("web-0", true).await;
        world.set_ready("web-2", false).await;
        world.until_targets(&["web-0", "web-1"], "50").await;
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u25_a_driver_that_answers_with_names_alone_keeps_their_pods() {
    for owner in Owner::ALL {
        for kept in [
            json!([{"metadata": {"name": "web-0"}}]),
            json!([{"metadata": {"name": "web-0", "namespace": NAMESPACE, "uid": null}}]),
            // As JSON inside a string (d7).
            json!([r#"{"metadata":{"name":"web-0"}}"#]),
        ] {
            println!("{kept}");
            let stage = Stage::new(owner, 3).await;
            let answer = json!({"succ": true, "msg": "", "doNotDeregister": kept});
            stage.front.rule(move |call| match call.webhook.as_str() {
                JUDGE => Reaction::says(&answer),
                _ => Reaction::Pass,
            });
            stage.world.set_ready("web-0", false).await;
            stage.world.set_ready("web-1", false).await;
            stage.world.until_targets(&["web-0", "web-2"], "50").await;
            stage.end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_what_is_certain_does_not_wait_for_a_slow_driver() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 3).await;
        let (world, gate) = (&stage.world, Gate::default());
        let held = gate.clone();
        stage.front.rule(move |call| match call.webhook.as_str() {
            JUDGE => Reaction::Behind(held.clone()),
            _ => Reaction::Pass,
        });
        world.set_ready("web-0", false).await;
        stage.until_asked(1).await;
        let began = Instant::now();
        // The driver is thinking. A pod that goes, goes; one that comes, comes; and the one that it
        // thinks about stays.
        world.delete::<Pod>(NAMESPACE, "web-1").await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        world.create(&manifests::pod("web-3")).await;
        world
            .until_targets(&["web-0", "web-2", "web-3"], "50")
            .await;
        let heavier = json!({"spec": {"parameters": {"weight": "80"}}});
        owner.patch(world, heavier).await;
        world
            .until_targets(&["web-0", "web-2", "web-3"], "80")
            .await;
        // The one that it thinks about goes itself.
        world.delete::<Pod>(NAMESPACE, "web-0").await;
        world.until_targets(&["web-2", "web-3"], "80").await;
        assert_eq!(stage.questions(), [["web-0"]], "one question at a time");
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(8),
            "not when the question has run out: {took:?}"
        );
        gate.open();
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_a_slow_driver_holds_up_no_deletion() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 2).await;
        let gate = Gate::default();
        stage.front.rule(move |call| match call.webhook.as_str() {
            JUDGE => Reaction::Behind(gate.clone()),
            _ => Reaction::Pass,
        });
        stage.world.set_ready("web-0", false).await;
        stage.until_asked(1).await;
        let began = Instant::now();
        stage.end().await;
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(8),
            "not when the question has run out: {took:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_pod_that_was_ready_in_between_is_asked_about_again() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 3).await;
        let world = &stage.world;
        stage.keep(&["web-1"]);
        world.set_ready("web-1", false).await; // All the time, so that the asking goes on.
        world.set_ready("web-0", false).await;
        world.until_targets(&["web-1", "web-2"], "50").await;
        world.set_ready("web-0", true).await;
        world
            .until_targets(&["web-0", "web-1", "web-2"], "50")
            .await;
        world.until_records(3).await;
        // The driver would keep it now. That it would not have some time ago is no matter.
        stage.keep(&["web-0", "web-1"]);
        let (seen, asked) = (stage.front.count(), stage.questions().len());
        world.set_ready("web-0", false).await;
        stage.until_asked(asked + 1).await;
        world.create(&manifests::pod("later")).await;
        world
            .until_targets(&["web-0", "web-1", "web-2", "later"], "50")
            .await;
        let calls = stage.front.calls().split_off(seen);
        assert!(
            calls.iter().all(|call| call.webhook != "deregisterBackend"),
            "{calls:?}"
        );
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_pod_that_is_kept_is_registered_nowhere_anew() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 2).await;
        let world = &stage.world;
        stage.keep(&["web-0", "never"]);
        // One that never was ready while it was selected is nobody's to keep.
        let mut never = manifests::pod("never");
        never.metadata.labels = Some([("app".to_owned(), "other".to_owned())].into());
        world.create(&never).await;
        until("it runs", async || {
            let pod = world.api::<Pod>(NAMESPACE).get("never").await.ok()?;
            let conditions = pod.status?.conditions?;
            let is_ready =
                |condition: &PodCondition| condition.type_ == "Ready" && condition.status == "True";
            conditions.iter().any(is_ready).then_some(())
        })
        .await;
        world.set_ready("never", false).await;
        let selected = json!({"metadata": {"labels": {"app": "web"}}});
        world.patch::<Pod>(NAMESPACE, "never", selected).await;
        world.set_ready("web-0", false).await;
        stage.until_asked(1).await;
        assert_eq!(stage.questions()[0], ["web-0"]);
        // A further load balancer gets those that are ready.
        match owner {
            Owner::Group => {
                world.create(&manifests::load_balancer("more-lb")).await;
                let more = json!({"spec": {"loadBalancers": [LB, "more-lb"]}});
                owner.patch(world, more).await;
            }
            Owner::Bind => {
                let more = ["left", "right"].map(manifests::target);
                owner
                    .patch(world, json!({"spec": {"loadBalancers": more}}))
                    .await;
            }
        }
        world.until_records(3).await;
        until("web-1 at both, web-0 at one", async || {
            (world.bound().len() == 3).then_some(())
        })
        .await;
        // Its record's parameters change all the same.
        let heavier = json!({"spec": {"parameters": {"weight": "80"}}});
        owner.patch(world, heavier).await;
        until("all have the weight", async || {
            let targets = world.targets();
            (targets.len() == 3 && targets.iter().all(|(_, weight)| weight == "80")).then_some(())
        })
        .await;
        if owner == Owner::Group {
            world.delete::<LoadBalancer>(NAMESPACE, "more-lb").await;
            world.until_gone::<LoadBalancer>(NAMESPACE, "more-lb").await;
        }
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_namesake_of_a_pod_that_was_judged_is_a_pod_of_its_own() {
    let stage = Stage::new(Owner::Bind, 2).await;
    let world = &stage.world;
    stage.keep(&[]);
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_gone::<Pod>(NAMESPACE, "web-0").await;
    world.create(&manifests::pod("web-0")).await;
    world.until_targets(&["web-0", "web-1"], "50").await;
    world.until_records(2).await;
    stage.keep(&["web-0"]);
    let asked = stage.questions().len();
    world.set_ready("web-0", false).await;
    stage.until_asked(asked + 1).await;
    // What was said of its namesake is not said of it.
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-0"], "50").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_policy_ends_the_asking() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 2).await;
        stage.keep(&["web-0"]);
        stage.world.set_ready("web-0", false).await;
        stage.until_asked(1).await;
        let simple = json!({"spec": {"deregisterPolicy": "IfNotReady", "deregisterWebhook": null}});
        owner.patch(&stage.world, simple).await;
        stage.world.until_targets(&["web-1"], "50").await;
        let records = async || stage.world.all::<BackendRecord>().await.len();
        until_is("records", 1, records).await;
        stage.end().await;
    }
}
