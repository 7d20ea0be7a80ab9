//! How long a load balancer waits that failed (u29).

use super::{LEFT, RIGHT, bare_stage, bound, delete_all, stage, start};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use lbcf_controller::api::{BackendGroup, Bind, LoadBalancer};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{Call, Front, Reaction, World, until};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What the drivers of these tests ask for.
const DELAY: Duration = Duration::from_secs(1);

fn fails_with_a_delay(webhook: &'static str) -> impl Fn(&Call) -> Reaction + Send + Sync {
    move |call| {
        if call.webhook == webhook {
            let answer = json!({
                "status": "Fail", "msg": "not now", "minRetryDelayInSeconds": DELAY.as_secs(),
            });
            Reaction::says(&answer)
        } else {
            Reaction::Pass
        }
    }
}

/// What the delays were between the calls of a webhook for a load balancer.
fn pauses(front: &Front, webhook: &str, lb: &str) -> Vec<Duration> {
    let calls = front.calls_of(webhook);
    let times: Vec<_> = calls
        .iter()
        .filter(|call| call.record_id().ends_with(&format!("-{lb})")))
        .map(|call| call.at)
        .collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Sees that a load balancer's next try comes when the driver asked for it, though everything that
/// could wake it earlier happens: its siblings change, and the process is replaced.
async fn keeps_the_delay(
    world: &World,
    front: &Front,
    controller: JoinHandle<()>,
    webhook: &'static str,
) -> JoinHandle<()> {
    let tries = async |number: usize| {
        until(&format!("try number {number} of {webhook}"), async || {
            (pauses(front, webhook, RIGHT).len() + 1 >= number).then_some(())
        })
        .await;
    };
    tries(1).await;
    until("what the driver asked for is noted", async || {
        world.entry(BIND, RIGHT).await?.retry_after
    })
    .await;
    // A backend comes and goes.
    world.create(&manifests::pod("passer-by")).await;
    until("it is registered", async || {
        (world.bound_to(LEFT).len() == 2).then_some(())
    })
    .await;
    world.delete::<Pod>(NAMESPACE, "passer-by").await;
    until("it is away", async || {
        (world.bound_to(LEFT).len() == 1).then_some(())
    })
    .await;
    tries(2).await;
    // And the next process keeps it as well.
    until("what the driver asked for is noted", async || {
        let at: Timestamp = world
            .entry(BIND, RIGHT)
            .await?
            .retry_after?
            .parse()
            .unwrap();
        (at > Timestamp::now()).then_some(())
    })
    .await;
    controller.abort();
    let _ = controller.await;
    let controller = start(world);
    tries(3).await;
    let pauses = pauses(front, webhook, RIGHT);
    assert_eq!(pauses.len(), 2, "{pauses:?}");
    for pause in pauses {
        // The answer is a moment later than the call, and being late is no harm on a busy machine.
        assert!(pause >= DELAY, "{webhook} was called after {pause:?}");
    }
    controller
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_creation_is_tried_again_when_the_driver_asked_for_it() {
    let (world, front, controller) = stage(1).await;
    let fails = fails_with_a_delay("createLoadBalancer");
    front.rule(move |call| {
        let is_right = call.body["attributes"]["name"] == RIGHT;
        if is_right {
            fails(call)
        } else {
            Reaction::Pass
        }
    });
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    let _controller = keeps_the_delay(&world, &front, controller, "createLoadBalancer").await;
    front.behave();
    world.until_records(2).await;
    let last = *pauses(&front, "createLoadBalancer", RIGHT).last().unwrap();
    assert!(last >= DELAY, "{last:?}");
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_change_is_tried_again_when_the_driver_asked_for_it() {
    let (world, front, controller) = bound(1).await;
    front.rule(fails_with_a_delay("ensureLoadBalancer"));
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].attributes = [("name", RIGHT), ("max-bandwidth-out", "1")].into();
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    let _controller = keeps_the_delay(&world, &front, controller, "ensureLoadBalancer").await;
    front.behave();
    // A user who changes something need not wait.
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].attributes = [("name", RIGHT), ("max-bandwidth-out", "2")].into();
    let tried = pauses(&front, "ensureLoadBalancer", RIGHT).len();
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    world.until_entry(BIND, RIGHT, "Ready", ("True", "")).await;
    let last = pauses(&front, "ensureLoadBalancer", RIGHT)[tried];
    assert!(last < DELAY, "{last:?}");
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_d22_a_failed_deletion_is_tried_again_when_the_driver_asked_for_it() {
    let (world, front, controller) = bound(1).await;
    front.rule(fails_with_a_delay("deleteLoadBalancer"));
    let left = json!({"spec": {"loadBalancers": [manifests::target(LEFT)]}});
    world.patch::<Bind>(NAMESPACE, BIND, left).await;
    let _controller = keeps_the_delay(&world, &front, controller, "deleteLoadBalancer").await;
    front.behave();
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u29_a_deletion_does_not_wait_for_the_end_of_another_wait() {
    let (world, front, _controller) = bound(1).await;
    let long = json!({"status": "Fail", "msg": "not now", "minRetryDelayInSeconds": 600});
    front.rule(move |call| match call.webhook.as_str() {
        "ensureLoadBalancer" => Reaction::says(&long),
        _ => Reaction::Pass,
    });
    let targets = [LEFT, RIGHT].map(|lb| {
        let mut target = manifests::target(lb);
        target.attributes = [("name", lb), ("max-bandwidth-out", "1")].into();
        target
    });
    let wider = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, wider).await;
    for lb in [LEFT, RIGHT] {
        until("the failure is noted", async || {
            world.entry(BIND, lb).await?.retry_after
        })
        .await;
    }
    let left = json!({"spec": {"loadBalancers": [targets[0]]}});
    world.patch::<Bind>(NAMESPACE, BIND, left).await;
    until("one is taken out", async || {
        world.entry(BIND, RIGHT).await.is_none().then_some(())
    })
    .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b138_d22_a_driver_that_is_still_at_it_is_asked_when_it_said() {
    let (world, front, _controller) = bare_stage(1).await;
    let asked: Mutex<HashMap<String, usize>> = Mutex::default();
    front.rule(move |call| {
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(call.record_id().to_owned()).or_default();
        *times += 1;
        if *times > 2 {
            return Reaction::Pass;
        }
        // A string, as the documents have it (d1).
        Reaction::says(&json!({"status": "Running", "minRetryDelayInSeconds": "1"}))
    });
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(2).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    delete_all(&world).await;

    let mut of: HashMap<String, Vec<Instant>> = HashMap::new();
    for call in front.calls() {
        of.entry(call.record_id().to_owned())
            .or_default()
            .push(call.at);
    }
    // Create and delete of each load balancer; generate, ensure, deregister of each record.
    assert_eq!(of.len(), 10, "{of:?}");
    for (task, times) in of {
        assert_eq!(times.len(), 3, "{task}");
        for pair in times.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= Duration::from_secs(1), "{task} after {pause:?}");
        }
    }
}
