//! What is ensured again and again although nothing changed: `ensurePolicy: Always`.

use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, Bind, BindEnsurePolicy, EnsurePolicy, EnsurePolicyType, LoadBalancer,
};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{Front, Reaction, World, until};
use local_cluster::RequestCounts;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const CONTROLLER: &str = "lbcf-controller";
/// The period of these tests; a cluster's are at least 10 s.
const PERIOD: Duration = Duration::from_millis(300);

fn options() -> Options {
    Options {
        min_ensure_period: Duration::from_millis(100),
        ..World::quick()
    }
}

async fn stage() -> (World, Front, JoinHandle<()>) {
    let mut world = World::bare().await;
    let front = world.put_front().await;
    let client = world.cluster.client_as(CONTROLLER);
    let controller = world.start_controller_with(client, options());
    world.create(&manifests::driver(&world.driver_url())).await;
    (world, front, controller)
}

fn always(period: Duration) -> Option<EnsurePolicy> {
    Some(EnsurePolicy {
        policy: EnsurePolicyType::Always,
        min_period: Some(format!("{}ms", period.as_millis())),
    })
}

async fn apply(
    world: &World,
    pods: usize,
    of_lb: Option<EnsurePolicy>,
    of_group: Option<EnsurePolicy>,
) {
    let mut lb = manifests::load_balancer(LB);
    lb.spec.ensure_policy = of_lb;
    world.create(&lb).await;
    for number in 0..pods {
        world
            .create(&manifests::pod(&format!("web-{number}")))
            .await;
    }
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.ensure_policy = of_group;
    world.create(&group).await;
    let pods = i32::try_from(pods).unwrap();
    world.until_counts(GROUP, [pods; 4]).await;
}

/// When each task's webhook was called.
fn times(front: &Front, webhook: &str) -> HashMap<String, Vec<Instant>> {
    let mut times: HashMap<String, Vec<Instant>> = HashMap::new();
    for call in front.calls_of(webhook) {
        let task = call.record_id().to_owned();
        times.entry(task).or_default().push(call.at);
    }
    times
}

/// Waits until each of so many tasks was called so often, and sees that they kept the period.
async fn until_ensured(
    front: &Front,
    webhook: &str,
    tasks: usize,
    times_each: usize,
    least: Duration,
) {
    until(&format!("{tasks} × {times_each} {webhook}"), async || {
        let times = times(front, webhook);
        let are_done = times.len() == tasks && times.values().all(|at| at.len() >= times_each);
        are_done.then_some(())
    })
    .await;
    for (task, at) in times(front, webhook) {
        for pair in at.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= least, "{task} again after {pause:?}");
        }
    }
}

fn writes(world: &World, before: &RequestCounts) -> u64 {
    world.cluster.requests().since(before).writes_by(CONTROLLER)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_u35_a_load_balancer_is_ensured_each_period_and_nothing_is_written() {
    let (world, front, controller) = stage().await;
    apply(&world, 1, always(PERIOD), None).await;
    until_ensured(&front, "ensureLoadBalancer", 1, 2, PERIOD).await;
    // The first one is told of, the others are no news (u37).
    world
        .until_event("LoadBalancer", "SuccEnsureLoadBalancer")
        .await;
    let before = world.cluster.requests();
    let ensured = front.calls_of("ensureLoadBalancer").len();
    until_ensured(&front, "ensureLoadBalancer", 1, ensured + 4, PERIOD).await;
    assert_eq!(writes(&world, &before), 0);
    assert_eq!(world.cluster.requests().since(&before).event_writes(), 0);
    let calls = front.calls_of("ensureLoadBalancer");
    let lb = world.api::<LoadBalancer>(NAMESPACE).get(LB).await.unwrap();
    let info = serde_json::to_value(lb.status.unwrap().lb_info).unwrap();
    for call in &calls {
        assert_eq!(call.body["lbInfo"], info);
        assert_eq!(
            call.body["attributes"],
            json!({"chargeType": "TRAFFIC_POSTPAID_BY_HOUR"})
        );
    }
    // The backends have no such policy.
    assert_eq!(front.calls_of("ensureBackend").len(), 1);
    // It goes on after a start, within the period and not all at once.
    controller.abort();
    let _ = controller.await;
    let (before, ensured) = (
        world.cluster.requests(),
        front.calls_of("ensureLoadBalancer").len(),
    );
    let _controller = world.start_controller_with(world.cluster.client_as(CONTROLLER), options());
    until("it is ensured again", async || {
        (front.calls_of("ensureLoadBalancer").len() >= ensured + 3).then_some(())
    })
    .await;
    assert_eq!(writes(&world, &before), 0);
    world.delete_basics().await;
    let ended = front.calls_of("ensureLoadBalancer").len();
    tokio::time::sleep(2 * PERIOD).await;
    assert_eq!(front.calls_of("ensureLoadBalancer").len(), ended);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b121_u35_backends_are_ensured_each_period_and_nothing_is_written() {
    let (world, front, _controller) = stage().await;
    apply(&world, 3, None, always(PERIOD)).await;
    world.until_records(3).await;
    until("the last event is written", async || {
        let events: Vec<Event> = world.all().await;
        let is_last = |event: &Event| event.reason.as_deref() == Some("SuccSyncedBackendGroup");
        events.iter().any(is_last).then_some(())
    })
    .await;
    let before = world.cluster.requests();
    until_ensured(&front, "ensureBackend", 3, 5, PERIOD).await;
    assert_eq!(writes(&world, &before), 0);
    assert_eq!(world.cluster.requests().since(&before).event_writes(), 0);
    assert_eq!(front.calls_of("generateBackendAddr").len(), 3);
    assert_eq!(front.calls_of("ensureLoadBalancer").len(), 0);
    // This is what it is for: what somebody took away by hand comes back.
    let lb = world.cloud.observe().load_balancers.remove(0);
    let endpoint = mock_driver::Endpoint {
        load_balancer: lb.lb_info["lbID"].clone(),
        listener: lb.lb_info["lblID"].clone(),
        domain: None,
        url: None,
    };
    let unbound = world.cloud.unbind(&endpoint, &lb.backends[0].addr);
    assert_eq!(unbound, Ok(true));
    world
        .until_targets(&["web-0", "web-1", "web-2"], "50")
        .await;
    // A change does not wait for the period's end.
    world
        .patch::<BackendGroup>(
            NAMESPACE,
            GROUP,
            json!({"spec": {"ensurePolicy": {"policy": "Always", "minPeriod": "1h"}}}),
        )
        .await;
    let heavier = json!({"spec": {"parameters": {"weight": "80"}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, heavier).await;
    world
        .until_targets(&["web-0", "web-1", "web-2"], "80")
        .await;
    world.until_records(3).await;
    // With a period of an hour nothing comes any more.
    let seen = front.count();
    tokio::time::sleep(3 * PERIOD).await;
    assert_eq!(front.count(), seen);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b139_u39_what_began_together_does_not_stay_together() {
    const PODS: usize = 20;
    let (world, front, _controller) = stage().await;
    let period = Duration::from_millis(1500);
    apply(&world, PODS, None, always(period)).await;
    until_ensured(&front, "ensureBackend", PODS, 2, period).await;
    let times = times(&front, "ensureBackend");
    let pauses: Vec<Duration> = times.values().map(|at| at[1] - at[0]).collect();
    let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
    // Up to a tenth of the period longer; of twenty, two are this far apart.
    assert!(*most - *least > period / 20, "{least:?} to {most:?}");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d14_u35_a_binds_load_balancers_and_backends_are_ensured_each_period() {
    let second = Duration::from_secs(1);
    for (policy, period) in [
        (json!({"policy": "Always", "minPeriod": "300ms"}), PERIOD),
        (
            json!({"policy": "Always", "resyncPeriodInSeconds": 1}),
            second,
        ),
        (
            json!({"policy": "Always", "minPeriod": "300ms", "resyncPeriodInSeconds": 600}),
            PERIOD,
        ),
    ] {
        println!("{policy}");
        let (world, front, controller) = stage().await;
        let mut bind = manifests::bind(BIND, &["left", "right"]);
        let policy: BindEnsurePolicy = serde_json::from_value(policy).unwrap();
        bind.spec.ensure_policy = Some(policy);
        world.create(&manifests::pod("web-0")).await;
        world.create(&bind).await;
        world.until_records(2).await;
        until_ensured(&front, "ensureLoadBalancer", 2, 2, period).await;
        let before = world.cluster.requests();
        until_ensured(&front, "ensureLoadBalancer", 2, 4, period).await;
        until_ensured(&front, "ensureBackend", 2, 4, period).await;
        assert_eq!(writes(&world, &before), 0);
        for call in front.calls_of("ensureLoadBalancer") {
            let name = call.body["attributes"]["name"].as_str().unwrap();
            let entry = world.entry(BIND, name).await.unwrap();
            let info = serde_json::to_value(entry.lb_info).unwrap();
            assert_eq!(call.body["lbInfo"], info);
        }
        world.delete::<Bind>(NAMESPACE, BIND).await;
        world.until_gone::<Bind>(NAMESPACE, BIND).await;
        world.delete_basics().await;
        controller.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_d6_without_the_policy_nothing_is_ensured_twice_until_the_policy_says_so() {
    let (world, front, _controller) = stage().await;
    let if_not_succ = Some(EnsurePolicy {
        policy: EnsurePolicyType::IfNotSucc,
        min_period: Some("200ms".to_owned()),
    });
    apply(&world, 2, if_not_succ.clone(), if_not_succ).await;
    world.until_records(2).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(4).await;
    let seen = front.count();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(front.count(), seen);
    // Saying so is enough.
    let always = json!({"spec": {"ensurePolicy": {"policy": "Always", "minPeriod": "200ms"}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, always.clone())
        .await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, always.clone())
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, always).await;
    until_ensured(&front, "ensureLoadBalancer", 2, 3, Duration::ZERO).await;
    until_ensured(&front, "ensureBackend", 4, 3, Duration::ZERO).await;
    // And so is saying otherwise.
    let never = json!({"spec": {"ensurePolicy": {"policy": "IfNotSucc", "minPeriod": null}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, never.clone())
        .await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, never.clone())
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, never).await;
    world.until_records(4).await;
    tokio::time::sleep(Duration::from_millis(300)).await; // What was under way.
    let seen = front.count();
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(front.count(), seen);
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b121_one_that_fails_later_is_told_of_and_stays_registered() {
    let (world, front, _controller) = stage().await;
    apply(&world, 1, None, always(PERIOD)).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world
        .patch::<Bind>(
            NAMESPACE,
            BIND,
            json!({"spec": {"ensurePolicy": {"policy": "Always", "minPeriod": "300ms"}}}),
        )
        .await;
    world.until_records(2).await;
    front.rule(|call| match call.webhook.as_str() {
        "ensureBackend" | "ensureLoadBalancer" => {
            Reaction::says(&json!({"status": "Fail", "msg": "says the test"}))
        }
        _ => Reaction::Pass,
    });
    world.until_counts(GROUP, [1, 0, 1, 0]).await;
    world
        .until_entry(BIND, "left", "Ready", ("False", "EnsureFailed"))
        .await;
    assert_eq!(front.calls_of("deregisterBackend").len(), 0);
    assert_eq!(world.targets().len(), 2);
    front.behave();
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    world.until_entry(BIND, "left", "Ready", ("True", "")).await;
    world.until_records(2).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_records(0).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}
