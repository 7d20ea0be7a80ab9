//! Admission adds the gate to new pods of labelled namespaces.

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{Api, Patch, PatchParams, PostParams};
use lbcf_controller::Options;
use lbcf_controller::names::{INJECT_READINESS_GATE, LABEL_INJECT_READINESS_GATE, READINESS_GATE};
use lbcf_e2e::manifests::{self, GROUP, NAMESPACE};
use lbcf_e2e::{World, until_is};
use serde_json::json;

fn gates(pod: &Pod) -> Vec<&str> {
    let spec = pod.spec.as_ref();
    let gates = spec.and_then(|spec| spec.readiness_gates.as_ref());
    let gates = gates.into_iter().flatten();
    gates.map(|gate| gate.condition_type.as_str()).collect()
}

async fn label(world: &World, value: &str) {
    let label = json!({"metadata": {"labels": {LABEL_INJECT_READINESS_GATE: value}}});
    Api::<Namespace>::all(world.client())
        .patch(NAMESPACE, &PatchParams::default(), &Patch::Merge(label))
        .await
        .expect("the namespace is accepted");
}

/// An API server reads the labels of namespaces from a cache, which may be behind.
async fn until_injected(world: &World, is_injected: bool) {
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let gate = is_injected.then(|| READINESS_GATE.to_owned());
    until_is("gates of new pods", Vec::from_iter(gate), async || {
        let pod = manifests::pod("dry-run");
        let pod = world.api::<Pod>(NAMESPACE).create(&dry_run, &pod).await;
        let pod = pod.expect("the pod is accepted");
        gates(&pod).into_iter().map(str::to_owned).collect()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d70_new_pods_of_labelled_namespaces_get_the_gate() {
    let world = World::bare().await;
    world.install_admission().await;
    let options = Options {
        leader_election: None,
        ..World::options()
    };
    let controller = world.start_admitting("lbcf-controller", options).await;
    world.apply_basics(1).await;
    world.until_counts(GROUP, [1; 4]).await;
    let before = world.get::<Pod>("web-0").await;
    assert!(gates(&before).is_empty(), "the namespace has no label");
    label(&world, "disabled").await;
    let pod = world.create(&manifests::pod("web-1")).await;
    assert!(gates(&pod).is_empty(), "another value means nothing");
    label(&world, INJECT_READINESS_GATE).await;
    until_injected(&world, true).await;
    let pod = world.create(&manifests::pod("web-2")).await;
    assert_eq!(gates(&pod), [READINESS_GATE]);
    let pod = manifests::gated(manifests::pod("web-3"));
    assert_eq!(gates(&world.create(&pod).await), [READINESS_GATE], "once");
    world.until_counts(GROUP, [4; 4]).await;
    for pod in ["web-1", "web-2", "web-3"] {
        super::until_ready(&world, pod, "True").await;
    }
    // Without the controller pods are created all the same.
    controller.task.abort();
    until_injected(&world, false).await;
}
