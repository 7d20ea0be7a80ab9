//! A Deployment's rollout, watched in the cloud.

use k8s_openapi::api::apps::v1::Deployment;
use lbcf_controller::api::BackendGroup;
use lbcf_controller::names::READINESS_GATE;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{ProxyAction, World, needs_embedded, until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PODS: usize = 20;
/// How often the driver responds that a registration is running.
const POLLS: usize = 3;

fn deployment() -> Deployment {
    let container = json!({"name": "web", "image": "registry.example/web:1"});
    let spec = json!({
        "replicas": PODS,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 5}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [container],
                "readinessGates": [{"conditionType": READINESS_GATE}],
            },
        },
    });
    serde_json::from_value(json!({
        "metadata": {"name": "web", "namespace": NAMESPACE}, "spec": spec,
    }))
    .unwrap()
}

/// Waits until all pods are of the current revision and available.
async fn until_rolled_out(world: &World) {
    until("the rollout is complete", async || {
        let deployment = world.api::<Deployment>(NAMESPACE).get("web").await;
        let deployment = deployment.expect("it exists");
        let status = serde_json::to_value(deployment.status?).unwrap();
        let is = |field: &str| status[field] == json!(PODS);
        let is_current = status["observedGeneration"] == json!(deployment.metadata.generation);
        let is_complete = is("replicas") && is("updatedReplicas") && is("availableReplicas");
        (is_current && is_complete).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d67_during_a_rollout_the_cloud_has_never_fewer_targets_than_the_deployment_pods() {
    if needs_embedded("Deployments of pods without an image") {
        return;
    }
    roll_out_with(&manifests::group(GROUP, &[LB])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_during_a_rollout_the_cloud_has_never_fewer_targets_than_a_service_endpoints() {
    if needs_embedded("Deployments of pods without an image") {
        return;
    }
    roll_out_with(&manifests::endpoint_group(GROUP, SERVICE, &[LB])).await;
}

async fn roll_out_with(group: &BackendGroup) {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    // Registering takes longer than starting a pod.
    let asked: Mutex<HashMap<String, usize>> = Mutex::default();
    proxy.rule(move |call| {
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(call.record_id().to_owned()).or_default();
        *times += 1;
        if call.webhook == "ensureBackend" && *times <= POLLS {
            return ProxyAction::reply_json(&json!({"status": "Running"}));
        }
        ProxyAction::Forward
    });
    let _controller = world.start(World::quick());
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    world.create(group).await;
    world.create(&deployment()).await;
    until_rolled_out(&world).await;
    assert_eq!(
        world.targets_count(),
        PODS,
        "it waits for the first pods, too"
    );
    let old: Vec<Value> = world.bound().into_iter().map(Value::from).collect();

    // The cloud is watched by itself and at every call of its driver, before which its state ends.
    let fewest = Arc::new(AtomicUsize::new(PODS));
    let watched = (world.cloud.clone(), Arc::clone(&fewest));
    let observe = move || {
        let (cloud, fewest) = &watched;
        let lbs = cloud.observe().load_balancers;
        let targets = lbs.iter().map(|lb| lb.backends.len()).sum();
        fewest.fetch_min(targets, Ordering::Relaxed);
    };
    proxy.on_response({
        let observe = observe.clone();
        move |_| observe()
    });
    let watch = tokio::spawn(async move {
        loop {
            observe();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let next = json!({"spec": {"template": {"metadata": {"annotations": {"revision": "2"}}}}});
    world.patch::<Deployment>(NAMESPACE, "web", next).await;
    until_rolled_out(&world).await;
    until("only the new pods are registered", async || {
        let bound: Vec<Value> = world.bound().into_iter().map(Value::from).collect();
        let is_new = bound.iter().all(|address| !old.contains(address));
        (bound.len() == PODS && is_new).then_some(())
    })
    .await;
    watch.abort();
    assert_eq!(fewest.load(Ordering::Relaxed), PODS);
}
