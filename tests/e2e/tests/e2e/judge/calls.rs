//! When the driver is called, and about which pods.

use super::{JUDGE, Owner, Setup, webhook};
use crate::concurrently::run_concurrently;
use k8s_openapi::api::core::v1::{Pod, PodReadinessGate};
use lbcf_controller::Options;
use lbcf_e2e::manifests::{self, NAMESPACE};
use lbcf_e2e::{ProxyAction, World, until};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

fn with_resync(resync_period: Duration) -> Options {
    Options {
        resync_period,
        ..World::quick()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_no_call_is_made_without_unready_pods() {
    run_concurrently(Owner::ALL, |owner| async move {
        let resync = with_resync(Duration::from_millis(50));
        let setup = Setup::with(owner, 2, webhook(None), resync).await;
        let world = &setup.world;
        world.create(&manifests::pod("web-2")).await;
        world.until_pods(3).await;
        world.delete::<Pod>(NAMESPACE, "web-1").await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        // Nor about a pod whose backend is already deregistered.
        setup.keep(&[]);
        world.set_ready("web-0", false).await;
        world.until_targets(&["web-2"], "50").await;
        let judged = setup.judged_pods();
        assert!(judged.iter().all(|pods| pods == &["web-0"]), "{judged:?}");
        // Nor about one that was never registered (d42).
        let mut starting = manifests::pod("starting");
        starting.spec.as_mut().unwrap().readiness_gates = Some(vec![PodReadinessGate {
            condition_type: "example.com/gate".into(),
        }]);
        world.create(&starting).await;
        world.create(&manifests::pod("web-3")).await;
        world.until_targets(&["web-2", "web-3"], "50").await;
        let judged = setup.judged_pods().len();
        // Several periods without a reason for a call: absence can only be observed over time.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(setup.judged_pods().len(), judged);
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_one_call_is_about_all_pods_and_at_most_one_a_second_is_made() {
    run_concurrently(Owner::ALL, |owner| async move {
        let setup = Setup::new(owner, 30).await;
        let names: Vec<String> = (0..30).map(|n| format!("web-{n}")).collect();
        // All are kept, so that all stay in the calls.
        let kept: Vec<_> = names
            .iter()
            .map(|name| json!({"metadata": {"name": name}}))
            .collect();
        let answer = json!({"succ": true, "doNotDeregister": kept});
        setup.proxy.rule(move |call| match call.webhook.as_str() {
            JUDGE => ProxyAction::reply_json(&answer),
            _ => ProxyAction::Forward,
        });
        let began = Instant::now();
        for name in &names {
            setup.world.set_ready(name, false).await;
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        until("one call is about all pods", async || {
            let judged = setup.judged_pods();
            judged.iter().any(|pods| pods.len() == 30).then_some(())
        })
        .await;
        let judged = setup.judged_pods().len() as u64;
        let seconds = began.elapsed().as_secs();
        assert!(judged <= seconds + 2, "{judged} calls in {seconds} s");
        assert_eq!(setup.world.targets().len(), 30);
        let times: Vec<Instant> = setup
            .proxy
            .calls_of(JUDGE)
            .iter()
            .map(|call| call.at)
            .collect();
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_secs(1), "{pause:?}");
        }
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b141_the_call_is_repeated_as_the_verdict_may_change() {
    run_concurrently(Owner::ALL, |owner| async move {
        let resync = with_resync(Duration::from_millis(300));
        let setup = Setup::with(owner, 2, webhook(None), resync).await;
        setup.keep(&["web-0"]);
        setup.world.set_ready("web-0", false).await;
        setup.until_called(4).await;
        setup.world.until_pods(2).await;
        let times: Vec<Instant> = setup
            .proxy
            .calls_of(JUDGE)
            .iter()
            .map(|call| call.at)
            .collect();
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_millis(300), "{pause:?}");
        }
        // Nothing changes in the cluster; the verdict does.
        setup.keep(&[]);
        setup.world.until_targets(&["web-1"], "50").await;
        setup.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b157_a_new_process_calls_again_and_deregisters_nothing_before() {
    run_concurrently(Owner::ALL, |owner| async move {
        let mut setup = Setup::new(owner, 2).await;
        setup.keep(&["web-0"]);
        setup.world.set_ready("web-0", false).await;
        setup.until_called(1).await;
        setup.controller.abort();
        let _ = (&mut setup.controller).await;
        let (judged, seen) = (setup.judged_pods().len(), setup.proxy.count());
        setup.controller = setup.world.start(World::quick());
        setup.until_called(judged + 1).await;
        setup.world.create(&manifests::pod("later")).await;
        setup
            .world
            .until_targets(&["web-0", "web-1", "later"], "50")
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
