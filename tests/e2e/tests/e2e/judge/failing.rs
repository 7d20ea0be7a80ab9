//! The driver gives no answer: the failure policy answers for it (b111).

use super::{JUDGE, Owner, Stage, webhook};
use http::StatusCode;
use lbcf_controller::api::FailurePolicy;
use lbcf_e2e::{Reaction, World, until};
use serde_json::json;
use std::time::Duration;

/// The pods that stay where web-0 is not ready, web-1 is not running either, and web-2 is ready.
const EXPECTED: [(Option<FailurePolicy>, &[&str]); 4] = [
    (None, &["web-0", "web-1", "web-2"]),
    (Some(FailurePolicy::DoNothing), &["web-0", "web-1", "web-2"]),
    (Some(FailurePolicy::IfNotReady), &["web-2"]),
    (Some(FailurePolicy::IfNotRunning), &["web-0", "web-2"]),
];

async fn fails(owner: Owner, policy: Option<FailurePolicy>, failure: Reaction, expected: &[&str]) {
    println!("{policy:?} {failure:?}");
    let stage = Stage::with(owner, 3, webhook(policy), World::quick()).await;
    stage.front.rule(move |call| match call.webhook.as_str() {
        JUDGE => failure.clone(),
        _ => Reaction::Pass,
    });
    stage.world.set_ready("web-0", false).await;
    stage.fail_pod("web-1").await;
    until("both were asked about", async || {
        let asked = stage.questions().concat();
        let are_in = ["web-0", "web-1"].map(|pod| asked.iter().any(|asked| asked == pod));
        (are_in == [true; 2]).then_some(())
    })
    .await;
    // What was to be done is done when something later is.
    stage.world.until_targets(expected, "50").await;
    stage.world.create(&lbcf_e2e::manifests::pod("later")).await;
    let mut after = expected.to_vec();
    after.push("later");
    stage.world.until_targets(&after, "50").await;
    let text = stage.world.until_event(owner.kind(), "WebhookFailed").await;
    assert!(text.contains("judgePodDeregister"), "{text}");
    if text.contains("succ=false") {
        assert!(text.contains("I would rather not"), "{text}");
    }
    // A driver that recovers is asked, and believed.
    stage.keep(&["web-1"]);
    stage
        .world
        .until_targets(
            if expected.contains(&"web-1") {
                &["web-1", "web-2", "later"]
            } else {
                &["web-2", "later"]
            },
            "50",
        )
        .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_the_failure_policy_answers_for_a_driver_that_is_broken() {
    for owner in Owner::ALL {
        for (policy, expected) in EXPECTED {
            let broken = Reaction::Instead(StatusCode::INTERNAL_SERVER_ERROR, "broken".into());
            fails(owner, policy, broken, expected).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_u25_the_failure_policy_answers_for_a_driver_that_says_no() {
    for owner in Owner::ALL {
        for (policy, expected) in EXPECTED {
            let no = json!({"succ": false, "msg": "I would rather not", "doNotDeregister": []});
            fails(owner, policy, Reaction::says(&no), expected).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_the_failure_policy_answers_for_a_driver_that_is_not_there() {
    for owner in Owner::ALL {
        for (policy, expected) in EXPECTED {
            println!("{policy:?}");
            let mut missing = webhook(policy);
            missing.driver_name = "later-driver".into();
            // Nothing but the driver's coming makes it be asked.
            let mut options = World::quick();
            options.backoff.min = Duration::from_secs(600);
            let stage = Stage::on(World::bare().await, owner, 3, missing, options).await;
            stage.world.set_ready("web-0", false).await;
            stage.fail_pod("web-1").await;
            stage.world.until_targets(expected, "50").await;
            let text = stage.world.until_event(owner.kind(), "WebhookFailed").await;
            assert!(text.contains("web/later-driver not found"), "{text}");
            assert_eq!(stage.questions().len(), 0);
            // When it comes it is asked at once.
            stage.keep(&["web-0"]);
            let mut driver = lbcf_e2e::manifests::driver(&stage.world.driver_url());
            driver.metadata.name = Some("later-driver".into());
            driver.metadata.namespace = Some("web".into());
            stage.world.create(&driver).await;
            let stays: &[&str] = if expected.contains(&"web-0") {
                &["web-0", "web-2"]
            } else {
                &["web-2"]
            };
            stage.world.until_targets(stays, "50").await;
            stage
                .world
                .delete::<lbcf_controller::api::LoadBalancerDriver>("web", "later-driver")
                .await;
            stage.end().await;
        }
    }
}
