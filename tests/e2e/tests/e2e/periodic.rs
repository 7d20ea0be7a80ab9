//! `ensurePolicy: Always`: load balancers and backends are ensured periodically.

use crate::concurrently::run_concurrently;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, Bind, BindEnsurePolicy, EnsurePolicy, EnsurePolicyType, LoadBalancer,
};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{DriverProxy, ProxyAction, World, kill, until};
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The period of these tests; real ones are at least 10 s.
const PERIOD: Duration = Duration::from_millis(300);

fn options() -> Options {
    Options {
        min_ensure_period: Duration::from_millis(100),
        ..World::quick()
    }
}

async fn setup() -> (World, DriverProxy, JoinHandle<()>) {
    let mut world = World::without_rules().await;
    let proxy = world.start_proxy().await;
    let controller = world.start(options());
    world.create(&manifests::driver(&world.driver_url())).await;
    (world, proxy, controller)
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
    world.create_pods(pods).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.ensure_policy = of_group;
    world.create(&group).await;
    let pods = i32::try_from(pods).unwrap();
    world.until_counts(GROUP, [pods; 4]).await;
}

/// When a webhook was called, for each recordID.
fn times(proxy: &DriverProxy, webhook: &str) -> HashMap<String, Vec<Instant>> {
    let mut times: HashMap<String, Vec<Instant>> = HashMap::new();
    for call in proxy.calls_of(webhook) {
        let task = call.record_id().to_owned();
        times.entry(task).or_default().push(call.at);
    }
    times
}

/// Waits until a webhook was called so often for each of so many recordIDs, and checks that calls
/// with the same recordID are at least `least` apart.
async fn until_ensured(
    proxy: &DriverProxy,
    webhook: &str,
    tasks: usize,
    times_each: usize,
    least: Duration,
) {
    until(&format!("{tasks} × {times_each} {webhook}"), async || {
        let times = times(proxy, webhook);
        let are_done = times.len() == tasks && times.values().all(|at| at.len() >= times_each);
        are_done.then_some(())
    })
    .await;
    for (task, at) in times(proxy, webhook) {
        for pair in at.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause >= least, "{task} again after {pause:?}");
        }
    }
}

/// Waits until the driver is not called for a second, which is several periods. A call that is in
/// flight when the policy changes may arrive late.
async fn until_calls_stop(proxy: &DriverProxy) {
    until("the calls stop", async || {
        let seen = proxy.count();
        tokio::time::sleep(Duration::from_secs(1)).await;
        (proxy.count() == seen).then_some(())
    })
    .await;
}

/// Waits until the controller writes nothing for a second: the status and the events of an owner follow its
/// backends, on a busy machine after some periods.
async fn until_writes_stop(world: &World) {
    until("the writes stop", async || {
        let before = world.cost();
        tokio::time::sleep(Duration::from_secs(1)).await;
        (world.cost_since(&before).all_writes() == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_u35_a_load_balancer_is_ensured_each_period_and_nothing_is_written() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, proxy, controller) = setup().await;
    apply(&world, 1, always(PERIOD), None).await;
    until_ensured(&proxy, "ensureLoadBalancer", 1, 2, PERIOD).await;
    // Only the first one is an event (u37).
    world
        .until_event("LoadBalancer", "SuccEnsureLoadBalancer")
        .await;
    let before = world.cost();
    let ensured = proxy.calls_of("ensureLoadBalancer").len();
    until_ensured(&proxy, "ensureLoadBalancer", 1, ensured + 4, PERIOD).await;
    let cost = world.cost_since(&before);
    assert_eq!((cost.all_writes(), cost.requests.event_writes()), (0, 0));
    let calls = proxy.calls_of("ensureLoadBalancer");
    let lb = world.get::<LoadBalancer>(LB).await;
    let info = serde_json::to_value(lb.status.unwrap().lb_info).unwrap();
    for call in &calls {
        assert_eq!(call.body["lbInfo"], info);
        assert_eq!(
            call.body["attributes"],
            json!({"chargeType": "TRAFFIC_POSTPAID_BY_HOUR"})
        );
    }
    // The group has no such policy.
    assert_eq!(proxy.calls_of("ensureBackend").len(), 1);
    // It continues after a restart.
    kill(controller).await;
    let ensured = proxy.calls_of("ensureLoadBalancer").len();
    let before = world.cost();
    let _controller = world.start(options());
    until("it is ensured again", async || {
        (proxy.calls_of("ensureLoadBalancer").len() >= ensured + 3).then_some(())
    })
    .await;
    assert_eq!(world.cost_since(&before).all_writes(), 0);
    world.delete_basics().await;
    until_calls_stop(&proxy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b121_u35_backends_are_ensured_each_period_and_nothing_is_written() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, proxy, _controller) = setup().await;
    apply(&world, 3, None, always(PERIOD)).await;
    world.until_records(3).await;
    world
        .until_event("BackendGroup", "SuccSyncedBackendGroup")
        .await;
    let before = world.cost();
    until_ensured(&proxy, "ensureBackend", 3, 5, PERIOD).await;
    let cost = world.cost_since(&before);
    assert_eq!((cost.all_writes(), cost.requests.event_writes()), (0, 0));
    assert_eq!(proxy.calls_of("generateBackendAddr").len(), 3);
    assert_eq!(proxy.calls_of("ensureLoadBalancer").len(), 0);
    // A backend that was unbound by hand is bound again.
    let lb = world.cloud.observe().load_balancers.remove(0);
    let endpoint = mock_driver::Endpoint {
        load_balancer: lb.lb_info["lbID"].clone(),
        listener: lb.lb_info["lblID"].clone(),
        domain: None,
        url: None,
    };
    let unbound = world.cloud.unbind(&endpoint, &lb.backends[0].addr);
    assert_eq!(unbound, Ok(true));
    world.until_pods(3).await;
    // A change does not wait for the end of the period.
    world
        .patch::<BackendGroup>(
            NAMESPACE,
            GROUP,
            json!({"spec": {"ensurePolicy": {"policy": "Always", "minPeriod": "1h"}}}),
        )
        .await;
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world
        .until_targets(&["web-0", "web-1", "web-2"], "80")
        .await;
    world.until_records(3).await;
    // The new period is an hour.
    until_calls_stop(&proxy).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b139_u39_calls_that_began_together_spread_out() {
    const PODS: usize = 20;
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, proxy, _controller) = setup().await;
    let period = Duration::from_millis(1500);
    apply(&world, PODS, None, always(period)).await;
    until_ensured(&proxy, "ensureBackend", PODS, 2, period).await;
    let times = times(&proxy, "ensureBackend");
    let pauses: Vec<Duration> = times.values().map(|at| at[1] - at[0]).collect();
    let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
    // The jitter is a tenth of the period: of twenty, two are further apart than half of that.
    assert!(*most - *least > period / 20, "{least:?} to {most:?}");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d14_u35_a_binds_load_balancers_and_backends_are_ensured_each_period() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let second = Duration::from_secs(1);
    let cases = [
        (json!({"policy": "Always", "minPeriod": "300ms"}), PERIOD),
        (
            json!({"policy": "Always", "resyncPeriodInSeconds": 1}),
            second,
        ),
        (
            json!({"policy": "Always", "minPeriod": "300ms", "resyncPeriodInSeconds": 600}),
            PERIOD,
        ),
    ];
    run_concurrently(cases, |(policy, period)| async move {
        let (world, proxy, controller) = setup().await;
        let mut bind = manifests::bind(BIND, &["left", "right"]);
        let policy: BindEnsurePolicy = serde_json::from_value(policy).unwrap();
        bind.spec.ensure_policy = Some(policy);
        world.create(&manifests::pod("web-0")).await;
        world.create(&bind).await;
        world.until_records(2).await;
        until_ensured(&proxy, "ensureLoadBalancer", 2, 2, period).await;
        until_writes_stop(&world).await;
        let before = world.cost();
        let ensured = proxy.calls_of("ensureLoadBalancer").len() / 2;
        until_ensured(&proxy, "ensureLoadBalancer", 2, ensured + 2, period).await;
        until_ensured(&proxy, "ensureBackend", 2, 4, period).await;
        assert_eq!(world.cost_since(&before).all_writes(), 0);
        for call in proxy.calls_of("ensureLoadBalancer") {
            let name = call.body["attributes"]["name"].as_str().unwrap();
            let entry = world.entry(BIND, name).await.unwrap();
            let info = serde_json::to_value(entry.lb_info).unwrap();
            assert_eq!(call.body["lbInfo"], info);
        }
        world.delete::<Bind>(NAMESPACE, BIND).await;
        world.until_deleted::<Bind>(NAMESPACE, BIND).await;
        world.delete_basics().await;
        controller.abort();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_d6_without_the_policy_nothing_is_ensured_twice_until_the_policy_changes() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, proxy, _controller) = setup().await;
    let if_not_succ = Some(EnsurePolicy {
        policy: EnsurePolicyType::IfNotSucc,
        min_period: Some("200ms".to_owned()),
    });
    apply(&world, 2, if_not_succ.clone(), if_not_succ).await;
    world.until_records(2).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(4).await;
    until_calls_stop(&proxy).await;
    assert_eq!(proxy.calls_of("ensureLoadBalancer").len(), 0);
    assert_eq!(proxy.calls_of("ensureBackend").len(), 4);
    let always = json!({"spec": {"ensurePolicy": {"policy": "Always", "minPeriod": "200ms"}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, always.clone())
        .await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, always.clone())
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, always).await;
    until_ensured(&proxy, "ensureLoadBalancer", 2, 3, Duration::ZERO).await;
    until_ensured(&proxy, "ensureBackend", 4, 3, Duration::ZERO).await;
    let never = json!({"spec": {"ensurePolicy": {"policy": "IfNotSucc", "minPeriod": null}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, never.clone())
        .await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, never.clone())
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, never).await;
    world.until_records(4).await;
    until_calls_stop(&proxy).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b121_a_later_failure_is_reported_and_the_backend_stays_registered() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, proxy, _controller) = setup().await;
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
    proxy.rule(|call| match call.webhook.as_str() {
        "ensureBackend" | "ensureLoadBalancer" => {
            ProxyAction::reply_json(&json!({"status": "Fail", "msg": "failed by the test"}))
        }
        _ => ProxyAction::Forward,
    });
    world.until_counts(GROUP, [1, 0, 1, 0]).await;
    world
        .until_entry(BIND, "left", "Ready", ("False", "EnsureFailed"))
        .await;
    assert_eq!(proxy.calls_of("deregisterBackend").len(), 0);
    assert_eq!(world.targets().len(), 2);
    proxy.forward_all();
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    world.until_entry(BIND, "left", "Ready", ("True", "")).await;
    world.until_records(2).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_records(0).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d98_a_load_balancer_that_is_gone_is_created_again_and_gets_its_backends() {
    let (world, _proxy, _controller) = setup().await;
    apply(&world, 2, always(PERIOD), None).await;
    let gone = world.cloud.observe().load_balancers[0].lb_info["lbID"].clone();
    assert!(world.cloud.reset_load_balancer(&gone));
    let message = world.until_event("LoadBalancer", "LoadBalancerGone").await;
    assert!(message.contains(&gone), "{message}");
    world.until_targets(&["web-0", "web-1"], "50").await;
    world.until_settled().await;
    let created = &world.cloud.observe().load_balancers;
    assert_eq!(created.len(), 1);
    assert_ne!(created[0].lb_info["lbID"], gone);
    world.delete_basics().await;
}
