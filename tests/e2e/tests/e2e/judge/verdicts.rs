//! Which pods stay registered and which are deregistered.

use super::{JUDGE, Owner, Setup};
use crate::concurrently::run_concurrently;
use k8s_openapi::api::core::v1::{Pod, PodCondition, PodReadinessGate};
use kube::api::{Patch, PatchParams};
use lbcf_controller::api::{BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{self, LB, NAMESPACE};
use lbcf_e2e::{Latch, ProxyAction, World, until, until_is};
use mock_driver::KEEP_REGISTERED;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_d16_the_pods_that_the_driver_names_stay_and_the_others_are_deregistered() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 3).await;
        let world = &setup.world;
        // The mock keeps pods with this annotation.
        let keep = json!({"metadata": {"annotations": {KEEP_REGISTERED: "true"}}});
        world.patch::<Pod>(NAMESPACE, "web-0", keep).await;
        world.set_ready("web-0", false).await;
        world.set_ready("web-1", false).await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        // The request contains the complete pods.
        let judged = setup.proxy.calls_of(JUDGE);
        let pod = &judged[0].body["notReadyPods"][0];
        assert!(pod["status"]["podIP"].is_string(), "{pod}");
        world.set_ready("web-1", true).await;
        world.until_pods(3).await;
        world.set_ready("web-0", true).await;
        world.set_ready("web-2", false).await;
        world.until_pods(2).await;
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u25_a_response_with_only_names_keeps_these_pods() {
    let replies = [
        json!([{"metadata": {"name": "web-0"}}]),
        json!([{"metadata": {"name": "web-0", "namespace": NAMESPACE, "uid": null}}]),
        // JSON in a string (d7).
        json!([r#"{"metadata":{"name":"web-0"}}"#]),
    ];
    let with_owner = |owner| replies.clone().map(|kept| (owner, kept));
    let cases: Vec<_> = Owner::ALL.into_iter().flat_map(with_owner).collect();
    run_concurrently(cases, |(owner, kept)| async move {
        let setup = Setup::new(owner, 3).await;
        let answer = json!({"succ": true, "msg": "", "doNotDeregister": kept});
        setup.proxy.rule(move |call| match call.webhook.as_str() {
            JUDGE => ProxyAction::reply_json(&answer),
            _ => ProxyAction::Forward,
        });
        setup.world.set_ready("web-0", false).await;
        setup.world.set_ready("web-1", false).await;
        setup.world.until_targets(&["web-0", "web-2"], "50").await;
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_other_changes_do_not_wait_for_a_slow_verdict() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::with_long_timeout(owner, 3).await;
        let (world, latch) = (&setup.world, Latch::default());
        let held = latch.clone();
        setup.proxy.rule(move |call| match call.webhook.as_str() {
            JUDGE => ProxyAction::Hold(held.clone()),
            _ => ProxyAction::Forward,
        });
        world.set_ready("web-0", false).await;
        setup.until_called(1).await;
        // While the call is pending, deleted pods are deregistered and new ones registered, and the
        // pod that the call is about stays.
        world.delete::<Pod>(NAMESPACE, "web-1").await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        world.create(&manifests::pod("web-3")).await;
        world
            .until_targets(&["web-0", "web-2", "web-3"], "50")
            .await;
        let weight_80 = json!({"spec": {"parameters": {"weight": "80"}}});
        owner.patch(world, weight_80).await;
        world
            .until_targets(&["web-0", "web-2", "web-3"], "80")
            .await;
        // The pod that the call is about is deleted.
        world.delete::<Pod>(NAMESPACE, "web-0").await;
        world.until_targets(&["web-2", "web-3"], "80").await;
        assert_eq!(setup.judged_pods(), [["web-0"]], "one call at a time");
        latch.open();
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_a_slow_verdict_delays_no_deletion() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::with_long_timeout(owner, 2).await;
        let latch = Latch::default();
        setup.proxy.rule(move |call| match call.webhook.as_str() {
            JUDGE => ProxyAction::Hold(latch.clone()),
            _ => ProxyAction::Forward,
        });
        setup.world.set_ready("web-0", false).await;
        setup.until_called(1).await;
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_pod_that_was_ready_in_between_is_judged_again() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 3).await;
        let world = &setup.world;
        setup.keep(&["web-1"]);
        world.set_ready("web-1", false).await; // It stays unready, so that calls go on.
        world.set_ready("web-0", false).await;
        world.until_targets(&["web-1", "web-2"], "50").await;
        world.set_ready("web-0", true).await;
        world.until_pods(3).await;
        world.until_records(3).await;
        // The driver keeps it now; the earlier verdict does not count.
        setup.keep(&["web-0", "web-1"]);
        let (seen, judged) = (setup.proxy.count(), setup.judged_pods().len());
        world.set_ready("web-0", false).await;
        setup.until_called(judged + 1).await;
        world.create(&manifests::pod("later")).await;
        world
            .until_targets(&["web-0", "web-1", "web-2", "later"], "50")
            .await;
        let calls = setup.proxy.calls().split_off(seen);
        assert!(
            calls.iter().all(|call| call.webhook != "deregisterBackend"),
            "{calls:?}"
        );
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_kept_pod_is_not_registered_at_further_load_balancers() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 2).await;
        let world = &setup.world;
        setup.keep(&["web-0", "never"]);
        // A pod that was never ready while it was selected cannot be kept.
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
        setup.until_called(1).await;
        assert_eq!(setup.judged_pods()[0], ["never", "web-0"]);
        // A further load balancer gets the ready pods only.
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
        // The parameters of the kept record change nevertheless.
        let weight_80 = json!({"spec": {"parameters": {"weight": "80"}}});
        owner.patch(world, weight_80).await;
        until("all have the weight", async || {
            let targets = world.targets();
            (targets.len() == 3 && targets.iter().all(|(_, weight)| weight == "80")).then_some(())
        })
        .await;
        if owner == Owner::Group {
            world.delete::<LoadBalancer>(NAMESPACE, "more-lb").await;
            world
                .until_deleted::<LoadBalancer>(NAMESPACE, "more-lb")
                .await;
        }
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d42_b110_pods_that_start_are_judged_with_the_others_and_never_registered_by_that() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 3).await;
        let world = &setup.world;
        setup.keep(&["web-0", "starting"]);
        // It runs and never was ready: its readiness gate is closed.
        let mut starting = manifests::pod("starting");
        starting.spec.as_mut().unwrap().readiness_gates = Some(vec![PodReadinessGate {
            condition_type: GATE.into(),
        }]);
        world.create(&starting).await;
        until("it runs", async || {
            let pod = world.api::<Pod>(NAMESPACE).get("starting").await.ok()?;
            pod.status?.pod_ip
        })
        .await;
        // A pod that is being deleted is not judged.
        let mut leaving = manifests::pod("leaving");
        leaving.metadata.finalizers = Some(vec!["example.com/slow".into()]);
        world.create(&leaving).await;
        world
            .until_targets(&["web-0", "web-1", "web-2", "leaving"], "50")
            .await;
        world.delete::<Pod>(NAMESPACE, "leaving").await;
        world.until_pods(3).await;
        world.until_records(3).await;
        world.set_ready("web-0", false).await;
        setup.until_called(1).await;
        assert_eq!(setup.judged_pods()[0], ["starting", "web-0"]);
        // The answer keeps web-0 and deregisters web-1, and creates nothing.
        world.set_ready("web-1", false).await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        let names = async || {
            let records: Vec<BackendRecord> = world.all().await;
            let pods = records.into_iter().filter_map(|it| it.spec.pod_backend);
            let mut names: Vec<String> = pods.map(|pod| pod.name).collect();
            names.sort();
            names
        };
        let two = ["web-0", "web-2"].map(str::to_owned).to_vec();
        until_is("records", two, names).await;
        // What the driver said while the pod started does not count once it is registered.
        setup.keep(&["web-0"]);
        let judged = setup.judged_pods().len();
        world.create(&manifests::pod("web-3")).await;
        world.set_ready("web-2", false).await;
        setup.until_called(judged + 1).await;
        setup.keep(&["web-0", "starting"]);
        set_gate(world, "starting", true).await;
        world
            .until_targets(&["web-0", "web-3", "starting"], "50")
            .await;
        world.until_records(3).await;
        let (seen, judged) = (setup.proxy.count(), setup.judged_pods().len());
        set_gate(world, "starting", false).await;
        setup.until_called(judged + 1).await;
        world.create(&manifests::pod("web-4")).await;
        world
            .until_targets(&["web-0", "web-3", "starting", "web-4"], "50")
            .await;
        let calls = setup.proxy.calls().split_off(seen);
        assert!(
            calls.iter().all(|call| call.webhook != "deregisterBackend"),
            "{calls:?}"
        );
        let released = json!({"metadata": {"finalizers": null}});
        world.patch::<Pod>(NAMESPACE, "leaving", released).await;
        setup.end().await;
    })
    .await;
}

const GATE: &str = "example.com/gate";

/// Opens or closes a pod's readiness gate.
async fn set_gate(world: &World, pod: &str, open: bool) {
    let status = if open { "True" } else { "False" };
    let patch = json!({"status": {"conditions": [{"type": GATE, "status": status}]}});
    world
        .api::<Pod>(NAMESPACE)
        .patch_status(pod, &PatchParams::default(), &Patch::Strategic(patch))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_a_verdict_does_not_apply_to_a_later_pod_of_the_same_name() {
    let setup = Setup::new(Owner::Bind, 2).await;
    let world = &setup.world;
    setup.keep(&[]);
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_deleted::<Pod>(NAMESPACE, "web-0").await;
    world.create(&manifests::pod("web-0")).await;
    world.until_pods(2).await;
    world.until_records(2).await;
    setup.keep(&["web-0"]);
    let judged = setup.judged_pods().len();
    world.set_ready("web-0", false).await;
    setup.until_called(judged + 1).await;
    // The verdict about the earlier pod does not apply to it.
    world.set_ready("web-1", false).await;
    world.until_pods(1).await;
    setup.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_policy_ends_the_calls() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 2).await;
        setup.keep(&["web-0"]);
        setup.world.set_ready("web-0", false).await;
        setup.until_called(1).await;
        let simple = json!({"spec": {"deregisterPolicy": "IfNotReady", "deregisterWebhook": null}});
        owner.patch(&setup.world, simple).await;
        setup.world.until_targets(&["web-1"], "50").await;
        let records = async || setup.world.all::<BackendRecord>().await.len();
        until_is("records", 1, records).await;
        setup.end().await;
    })
    .await;
}
