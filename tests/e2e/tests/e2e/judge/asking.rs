//! When the driver is asked, and about whom.

use super::{CONTROLLER, JUDGE, Owner, Stage, webhook};
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_e2e::manifests::{self, NAMESPACE};
use lbcf_e2e::{Reaction, World, until};
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
async fn b110_nobody_is_asked_about_nobody() {
    for owner in Owner::ALL {
        let resync = with_resync(Duration::from_millis(50));
        let stage = Stage::with(owner, 2, webhook(None), resync).await;
        let world = &stage.world;
        world.create(&manifests::pod("web-2")).await;
        world
            .until_targets(&["web-0", "web-1", "web-2"], "50")
            .await;
        world.delete::<Pod>(NAMESPACE, "web-1").await;
        world.until_targets(&["web-0", "web-2"], "50").await;
        // Nor about one whose backend is gone already.
        stage.keep(&[]);
        world.set_ready("web-0", false).await;
        world.until_targets(&["web-2"], "50").await;
        let asked = stage.questions();
        assert!(asked.iter().all(|pods| pods == &["web-0"]), "{asked:?}");
        world.create(&manifests::pod("web-3")).await;
        world.until_targets(&["web-2", "web-3"], "50").await;
        let asked = stage.questions().len();
        // Several periods in which nothing is to be asked.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(stage.questions().len(), asked);
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b110_all_are_asked_about_together_and_about_once_a_second() {
    for owner in Owner::ALL {
        let stage = Stage::new(owner, 30).await;
        let names: Vec<String> = (0..30).map(|n| format!("web-{n}")).collect();
        // All are kept, so all stay to be asked about.
        let kept: Vec<_> = names
            .iter()
            .map(|name| json!({"metadata": {"name": name}}))
            .collect();
        let answer = json!({"succ": true, "doNotDeregister": kept});
        stage.front.rule(move |call| match call.webhook.as_str() {
            JUDGE => Reaction::says(&answer),
            _ => Reaction::Pass,
        });
        let began = Instant::now();
        for name in &names {
            stage.world.set_ready(name, false).await;
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        until("all were asked about together", async || {
            let asked = stage.questions();
            asked.iter().any(|pods| pods.len() == 30).then_some(())
        })
        .await;
        let asked = stage.questions().len() as u64;
        let seconds = began.elapsed().as_secs();
        assert!(asked <= seconds + 2, "{asked} questions in {seconds} s");
        assert_eq!(stage.world.targets().len(), 30);
        let times: Vec<Instant> = stage
            .front
            .calls_of(JUDGE)
            .iter()
            .map(|call| call.at)
            .collect();
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_secs(1), "{pause:?}");
        }
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b141_it_is_asked_again_as_the_answer_may_be_another_one_later() {
    for owner in Owner::ALL {
        let resync = with_resync(Duration::from_millis(300));
        let stage = Stage::with(owner, 2, webhook(None), resync).await;
        stage.keep(&["web-0"]);
        stage.world.set_ready("web-0", false).await;
        stage.until_asked(4).await;
        stage.world.until_targets(&["web-0", "web-1"], "50").await;
        let times: Vec<Instant> = stage
            .front
            .calls_of(JUDGE)
            .iter()
            .map(|call| call.at)
            .collect();
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_millis(300), "{pause:?}");
        }
        // Nothing happens in the cluster; the driver changes its mind.
        stage.keep(&[]);
        stage.world.until_targets(&["web-1"], "50").await;
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b157_a_new_process_asks_anew_and_takes_nobody_away_before() {
    for owner in Owner::ALL {
        let mut stage = Stage::new(owner, 2).await;
        stage.keep(&["web-0"]);
        stage.world.set_ready("web-0", false).await;
        stage.until_asked(1).await;
        stage.controller.abort();
        let _ = (&mut stage.controller).await;
        let (asked, seen) = (stage.questions().len(), stage.front.count());
        let client = stage.world.cluster.client_as(CONTROLLER);
        stage.controller = stage.world.start_controller_with(client, World::quick());
        stage.until_asked(asked + 1).await;
        stage.world.create(&manifests::pod("later")).await;
        stage
            .world
            .until_targets(&["web-0", "web-1", "later"], "50")
            .await;
        let calls = stage.front.calls().split_off(seen);
        assert!(
            calls.iter().all(|call| call.webhook != "deregisterBackend"),
            "{calls:?}"
        );
        stage.end().await;
    }
}
