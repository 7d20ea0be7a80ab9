//! The driver gives no verdict: the failure policy decides (b111).

use super::{JUDGE, Owner, Setup, webhook};
use crate::concurrently::run_concurrently;
use http::StatusCode;
use lbcf_controller::api::FailurePolicy;
use lbcf_e2e::manifests::NAMESPACE;
use lbcf_e2e::{ProxyAction, World};
use serde_json::json;
use std::time::Duration;

/// The pods that stay registered under each policy: web-0 is unready, web-1 has failed, about which no driver is
/// asked (d92), web-2 is ready.
const EXPECTED: [(Option<FailurePolicy>, &[&str]); 4] = [
    (None, &["web-0", "web-2"]),
    (Some(FailurePolicy::DoNothing), &["web-0", "web-2"]),
    (Some(FailurePolicy::IfNotReady), &["web-2"]),
    (Some(FailurePolicy::IfNotRunning), &["web-0", "web-2"]),
];

/// Each failure policy for each owner.
fn cases() -> impl Iterator<Item = (Owner, Option<FailurePolicy>, &'static [&'static str])> {
    let of = |owner| EXPECTED.map(|(policy, expected)| (owner, policy, expected));
    Owner::ALL.into_iter().flat_map(of)
}

async fn fails(
    owner: Owner,
    policy: Option<FailurePolicy>,
    failure: ProxyAction,
    expected: &[&str],
) {
    let setup = Setup::with(owner, 3, webhook(policy), World::quick()).await;
    setup.proxy.rule(move |call| match call.webhook.as_str() {
        JUDGE => failure.clone(),
        _ => ProxyAction::Forward,
    });
    setup.world.set_ready("web-0", false).await;
    setup.fail_pod("web-1").await;
    setup.until_called(1).await;
    // Once a later change has arrived, the verdict has been acted on, too.
    setup.world.until_targets(expected, "50").await;
    setup.world.create(&lbcf_e2e::manifests::pod("later")).await;
    let mut after = expected.to_vec();
    after.push("later");
    setup.world.until_targets(&after, "50").await;
    let text = setup.world.until_event(owner.kind(), "WebhookFailed").await;
    assert!(text.contains("judgePodDeregister"), "{text}");
    if text.contains("succ=false") {
        assert!(text.contains("rejected by the test"), "{text}");
    }
    assert!(!setup.judged_pods().concat().contains(&"web-1".to_owned()));
    // The verdicts of a driver that has recovered count again.
    setup.keep(&[]);
    setup.world.until_targets(&["web-2", "later"], "50").await;
    setup.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_the_failure_policy_decides_for_a_driver_that_is_broken() {
    run_concurrently(cases(), |(owner, policy, expected)| async move {
        let broken = ProxyAction::Reply(StatusCode::INTERNAL_SERVER_ERROR, "broken".into());
        fails(owner, policy, broken, expected).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_u25_the_failure_policy_decides_for_a_driver_that_rejects() {
    run_concurrently(cases(), |(owner, policy, expected)| async move {
        let no = json!({"succ": false, "msg": "rejected by the test", "doNotDeregister": []});
        fails(owner, policy, ProxyAction::reply_json(&no), expected).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_the_failure_policy_decides_for_a_missing_driver() {
    run_concurrently(cases(), |(owner, policy, expected)| async move {
        let mut missing = webhook(policy);
        missing.driver_name = "later-driver".into();
        // With this backoff only the creation of the driver triggers a call.
        let mut options = World::quick();
        options.backoff.min = Duration::from_secs(600);
        let setup = Setup::on(World::bare().await, owner, 3, missing, options).await;
        setup.world.set_ready("web-0", false).await;
        setup.fail_pod("web-1").await;
        setup.world.until_targets(expected, "50").await;
        let text = setup.world.until_event(owner.kind(), "WebhookFailed").await;
        assert!(
            text.contains("lbcf-e2e-web/later-driver not found"),
            "{text}"
        );
        assert_eq!(setup.judged_pods().len(), 0);
        // As soon as the driver exists, it is called.
        setup.keep(&["web-0"]);
        let mut driver = lbcf_e2e::manifests::driver(&setup.world.driver_url());
        driver.metadata.name = Some("later-driver".into());
        driver.metadata.namespace = Some(NAMESPACE.into());
        setup.world.create(&driver).await;
        let stays: &[&str] = if expected.contains(&"web-0") {
            &["web-0", "web-2"]
        } else {
            &["web-2"]
        };
        setup.world.until_targets(stays, "50").await;
        setup
            .world
            .delete::<lbcf_controller::api::LoadBalancerDriver>(NAMESPACE, "later-driver")
            .await;
        setup.end().await;
    })
    .await;
}
