//! The readiness gate of pods: rollouts wait for the load balancer.

mod endpoints;
mod injected;
mod rollout;

use k8s_openapi::api::core::v1::{Event, Pod, PodCondition};
use kube::api::{Patch, PatchParams};
use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_controller::names::READINESS_GATE;
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE};
use lbcf_e2e::{Latch, ProxyAction, World, until, until_is};
use serde_json::json;

/// The status of a condition of a pod; empty while there is none.
async fn status(world: &World, pod: &str, type_: &str) -> String {
    condition(world, pod, type_)
        .await
        .map(|condition| condition.status)
        .unwrap_or_default()
}

async fn condition(world: &World, pod: &str, type_: &str) -> Option<PodCondition> {
    let pod = world.api::<Pod>(NAMESPACE).get_opt(pod).await;
    let pod = pod.expect("pods can be read")?;
    let mut conditions = pod.status?.conditions?.into_iter();
    conditions.find(|condition| condition.type_ == type_)
}

/// Waits until the gate's condition has this status and reason.
async fn until_gate(world: &World, pod: &str, status: &str, reason: &str) {
    let expected = (status.to_owned(), reason.to_owned());
    until_is(&format!("the gate of {pod}"), expected, async || {
        let condition = condition(world, pod, READINESS_GATE).await;
        let condition = condition.unwrap_or_default();
        (condition.status, condition.reason.unwrap_or_default())
    })
    .await;
}

async fn until_ready(world: &World, pod: &str, expected: &str) {
    until_is(
        &format!("{pod} is ready"),
        expected.to_owned(),
        async || status(world, pod, "Ready").await,
    )
    .await;
}

/// Makes the containers of a pod ready or not, and with them the pod, as a kubelet does.
async fn set_containers(world: &World, pod: &str, ready: bool) {
    let annotation = json!({"metadata": {"annotations": {
        local_cluster::annotations::READY: ready.to_string(),
    }}});
    world
        .api::<Pod>(NAMESPACE)
        .patch(pod, &PatchParams::default(), &Patch::Merge(annotation))
        .await
        .expect("the pod is accepted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d67_pods_without_the_gate_are_not_written_and_others_once_for_each_status() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(10).await;
    world.until_counts(GROUP, [10; 4]).await;
    let other = json!({"spec": {"readinessGates": [{"conditionType": "example.com/warm"}]}});
    let mut pod = serde_json::to_value(manifests::pod("warm")).unwrap();
    pod.as_object_mut().unwrap()["spec"]["readinessGates"] =
        other["spec"]["readinessGates"].clone();
    world
        .create(&serde_json::from_value::<Pod>(pod).unwrap())
        .await;
    world.delete::<Pod>(NAMESPACE, "web-9").await;
    world.until_deleted::<Pod>(NAMESPACE, "web-9").await;
    until("it is deregistered", async || {
        (world.targets_count() == 9).then_some(())
    })
    .await;
    assert_eq!(world.cost().writes("pods"), 0);

    let before = world.cost();
    for number in 0..10 {
        let pod = manifests::pod(&format!("gated-{number}"));
        world.create(&manifests::gated(pod)).await;
    }
    for number in 0..10 {
        let pod = format!("gated-{number}");
        until_gate(&world, &pod, "True", "Registered").await;
        until_ready(&world, &pod, "True").await;
    }
    assert_eq!(world.targets_count(), 19);
    world.until_settled().await;
    let writes = world.cost_since(&before).writes("pods");
    assert!((10..=20).contains(&writes), "{writes} writes for 10 pods");
    let message = condition(&world, "gated-0", READINESS_GATE).await;
    assert_eq!(
        message.unwrap().message.as_deref(),
        Some("all 1 backends of this pod are registered")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d67_a_pod_waits_until_every_owner_has_registered_it_also_over_a_restart() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "ensureBackend" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    let controller = world.start_controller();
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.create(&manifests::bind(BIND, &["a"])).await;
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_gate(&world, "web-0", "False", "NotRegistered").await;
    // Its containers are ready: otherwise each would wait for the other.
    until("both call the driver", async || {
        (proxy.calls_of("ensureBackend").len() >= 2).then_some(())
    })
    .await;
    assert_eq!(status(&world, "web-0", "Ready").await, "False");
    let waiting = condition(&world, "web-0", READINESS_GATE).await.unwrap();
    let message = waiting.message.unwrap();
    assert!(
        message.starts_with("1 of 1 backends of this pod are not registered yet"),
        "{message}"
    );
    // The process ends while the calls run; the next one repeats them.
    controller.abort();
    let _controller = world.start_controller();
    latch.open();
    until_gate(&world, "web-0", "True", "Registered").await;
    until_ready(&world, "web-0", "True").await;
    let message = condition(&world, "web-0", READINESS_GATE).await.unwrap();
    assert_eq!(
        message.message.as_deref(),
        Some("all 2 backends of this pod are registered")
    );
    assert_eq!(world.targets_count(), 2);
    assert!(world.cost().writes("pods") <= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d68_a_ready_pod_stays_so_while_its_driver_fails() {
    if lbcf_e2e::needs_embedded("containers become unready by an annotation") {
        return;
    }
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start_controller();
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_ready(&world, "web-0", "True").await;
    let before = world.cost();
    proxy.rule(|call| match call.webhook.as_str() {
        "ensureBackend" => ProxyAction::reply_json(&json!({"status": "Fail", "msg": "not today"})),
        _ => ProxyAction::Forward,
    });
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_counts(GROUP, [1, 0, 1, 0]).await;
    assert_eq!(status(&world, "web-0", "Ready").await, "True");
    assert_eq!(world.cost_since(&before).writes("pods"), 0);
    // Once its containers are not ready, it waits again.
    set_containers(&world, "web-0", false).await;
    until_gate(&world, "web-0", "False", "NotRegistered").await;
    set_containers(&world, "web-0", true).await;
    until("it is registered again", async || {
        (proxy.calls_of("generateBackendAddr").len() == 2).then_some(())
    })
    .await;
    assert_eq!(status(&world, "web-0", "Ready").await, "False");
    proxy.forward_all();
    until_ready(&world, "web-0", "True").await;
    world.until_targets(&["web-0"], "80").await;
    assert_eq!(world.cost_since(&before).writes("pods"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d69_a_pod_waits_for_load_balancers_that_are_created_and_for_nothing_else() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "createLoadBalancer" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    let _controller = world.start_controller();
    // Nothing selects it.
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_gate(&world, "web-0", "True", "NotSelected").await;
    until_ready(&world, "web-0", "True").await;
    // A group whose load balancer does not exist.
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_counts(GROUP, [1, 0, 0, 0]).await;
    world
        .create(&manifests::gated(manifests::pod("web-1")))
        .await;
    until_gate(&world, "web-1", "True", "NotSelected").await;
    // The load balancer is being created.
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    until("creation has begun", async || {
        (proxy.calls_of("createLoadBalancer").len() == 1).then_some(())
    })
    .await;
    world
        .create(&manifests::gated(manifests::pod("web-2")))
        .await;
    until_gate(&world, "web-2", "False", "NotRegistered").await;
    latch.open();
    until_gate(&world, "web-2", "True", "Registered").await;
    until("all are registered", async || {
        (world.targets_count() == 3).then_some(())
    })
    .await;
    // New pods do not wait for one that is being deleted.
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_deleted::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world
        .create(&manifests::gated(manifests::pod("web-3")))
        .await;
    until_gate(&world, "web-3", "True", "NotSelected").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d70_pods_without_the_gate_are_warned_of_when_the_driver_fails() {
    let (world, proxy, _controller) = World::behind_proxy(World::quick()).await;
    let failed = json!({"status": "Fail", "msg": "no"});
    proxy.rule(move |call| match call.webhook == "ensureBackend" {
        true => ProxyAction::reply_json(&failed),
        false => ProxyAction::Forward,
    });
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world
        .until_event("BackendRecord", "FailedEnsureBackend")
        .await;
    let warned = async || {
        let events = world.all::<Event>().await.into_iter();
        let events = events.filter(|event| event.reason.as_deref() == Some("NoReadinessGate"));
        events.count()
    };
    assert_eq!(warned().await, 0, "it has the gate");
    world.create(&manifests::pod("web-1")).await;
    let message = world.until_event("BackendGroup", "NoReadinessGate").await;
    assert!(message.contains(READINESS_GATE), "{message}");
}
