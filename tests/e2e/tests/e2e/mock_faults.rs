//! The mock driver does the work and its answer is lost: controller and cloud agree in the end, for each
//! webhook.

use crate::concurrently::run_concurrently;
use crate::scenario::Scenario;
use kube::api::{Api, PostParams};
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver, NamespacedKind};
use lbcf_driver_sdk::webhook::ALL;
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, until};
use mock_driver::{FaultAction, FaultMatch, FaultRule, Glob};
use serde_json::json;
use std::time::Duration;

/// How many answers are lost at most.
const TIMES: u64 = 3;
const SOON: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_answers_of_each_webhook_leave_controller_and_cloud_in_agreement() {
    if lbcf_e2e::needs_embedded("answers that are lost") {
        return;
    }
    let webhooks = ALL.iter().map(|info| info.name);
    run_concurrently(webhooks, |webhook| async move {
        let world = match webhook {
            "validateLoadBalancer" | "validateBackend" => World::new().await,
            _ => World::bare().await,
        };
        lose_answers(&world, webhook);
        let options = Options {
            driver_health_period: (webhook == "healthz").then_some(SOON),
            audit_period: SOON,
            ..World::quick()
        };
        let controller = world.start(options);
        match webhook {
            "validateLoadBalancer" | "validateBackend" => with_admission(&world).await,
            "listBackends" => with_audit(&world).await,
            "judgePodDeregister" => Scenario::Verdicts.run(&world).await,
            _ => Scenario::Pods.run(&world).await,
        }
        controller.abort();
        let calls = world.cloud.journal().into_iter();
        let lost: Vec<_> = calls.filter(|call| call.fault.is_some()).collect();
        // A scenario goes on when the cloud is as it should be, which it is after the first one.
        assert!(
            (1..=TIMES).contains(&(lost.len() as u64)),
            "{webhook}: {lost:?}"
        );
        for call in lost {
            assert_eq!(call.webhook, webhook);
            assert_eq!(call.status, "NoAnswer");
            assert_eq!(
                call.http_status,
                Some(200),
                "the driver did its work: {call:?}"
            );
        }
    })
    .await;
}

fn lose_answers(world: &World, webhook: &str) {
    let rule = FaultRule {
        matches: FaultMatch {
            webhook: Some(Glob::from(webhook)),
            times: Some(TIMES),
            ..FaultMatch::default()
        },
        action: FaultAction::LoseAnswer,
    };
    world.cloud.faults().add(rule).unwrap();
}

/// The user is refused while the driver gives no answer, and tries again.
async fn with_admission(world: &World) {
    world.create_driver().await;
    create_repeatedly(world, &manifests::load_balancer(LB)).await;
    world.create_pods(2).await;
    create_repeatedly(world, &manifests::group(GROUP, &[LB])).await;
    world.until_pods(2).await;
    world.delete_basics().await;
}

async fn create_repeatedly<K: NamespacedKind>(world: &World, object: &K) {
    let api: Api<K> = world.api(NAMESPACE);
    until("the object is accepted", async || {
        match api.create(&PostParams::default(), object).await {
            Ok(_) => Some(()),
            Err(kube::Error::Api(_)) => None,
            Err(error) => panic!("{error}"),
        }
    })
    .await;
}

/// The audit finds a backend that was unbound behind the driver's back, in spite of lost answers.
async fn with_audit(world: &World) {
    world.apply_basics(2).await;
    let listed = json!({"spec": {"webhooks": [{"name": "listBackends"}]}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, listed)
        .await;
    world.until_pods(2).await;
    until("all answers were lost", async || {
        (world.cloud.faults().list()[0].applied == TIMES).then_some(())
    })
    .await;
    world.until_pods(2).await;
    world.until_counts(GROUP, [2; 4]).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.delete_basics().await;
}
