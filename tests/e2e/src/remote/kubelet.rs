//! Does for the pods on the tests' nodes what their kubelets would: they get an address, become ready,
//! and are removed when they are deleted. Containers are not run.

use super::owned::PREFIX;
use crate::manifests::NODES;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Client, ResourceExt};
use local_cluster::annotations::POD_IP;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The pause before a request that failed is repeated.
const RETRY: Duration = Duration::from_millis(100);

#[derive(Debug, PartialEq, Eq)]
enum KubeletAction {
    Start,
    /// Whether the pod is ready follows from its readiness gates.
    SetReady(bool),
    Remove,
}

/// What is to be done with a pod that is bound to a node of the tests.
fn decide(pod: &Pod) -> Option<KubeletAction> {
    if pod.metadata.deletion_timestamp.is_some() {
        // At 0 only a finalizer keeps it.
        let is_removed = pod.metadata.deletion_grace_period_seconds == Some(0);
        return (!is_removed).then_some(KubeletAction::Remove);
    }
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    let has_ip = status.is_some_and(|status| status.pod_ip.is_some());
    let is_new = matches!(phase, None | Some("Pending")) && !has_ip;
    if !namespace.starts_with(PREFIX) {
        // What a DaemonSet of the cluster puts on these nodes never starts.
        return None;
    }
    if is_new {
        return Some(KubeletAction::Start);
    }
    // Without gates it stays as the test sets it.
    let is_ready = passes_gates(pod)?;
    (is_ready != has_condition(pod, "Ready")).then_some(KubeletAction::SetReady(is_ready))
}

/// Whether the conditions that a pod's readiness gates name are met; none if it has no gates.
fn passes_gates(pod: &Pod) -> Option<bool> {
    let gates = pod.spec.as_ref()?.readiness_gates.as_ref()?;
    let mut gates = gates.iter();
    Some(gates.all(|gate| has_condition(pod, &gate.condition_type)))
}

fn has_condition(pod: &Pod, type_: &str) -> bool {
    let status = pod.status.as_ref();
    let mut conditions = status
        .and_then(|it| it.conditions.as_ref())
        .into_iter()
        .flatten();
    conditions.any(|condition| condition.type_ == type_ && condition.status == "True")
}

/// Serves all nodes of the tests until the task is aborted.
pub(super) async fn run(client: Client) {
    let nodes = NODES.map(|(node, _)| serve(client.clone(), node));
    futures::future::join_all(nodes).await;
}

async fn serve(client: Client, node: &str) {
    let config = watcher::Config::default().fields(&format!("spec.nodeName={node}"));
    let events = watcher::watcher(Api::<Pod>::all(client.clone()), config).default_backoff();
    // The watcher restarts after errors; one pod does not wait for another.
    let handled = events.for_each_concurrent(None, |event| {
        let client = client.clone();
        async move {
            if let Ok(Event::Apply(pod) | Event::InitApply(pod)) = event {
                handle(&client, pod).await;
            }
        }
    });
    handled.await;
}

/// Does what is to be done. What failed is repeated with the pod as it is then.
async fn handle(client: &Client, mut pod: Pod) {
    let namespace = pod.metadata.namespace.clone().unwrap_or_default();
    let name = pod.metadata.name.clone().unwrap_or_default();
    let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    while let Some(action) = decide(&pod) {
        let done = match action {
            KubeletAction::Start => patch(&api, &name, &pod, &running(&pod)).await,
            KubeletAction::SetReady(is_ready) => {
                let conditions = json!({"conditions": [ready(is_ready)]});
                patch(&api, &name, &pod, &conditions).await
            }
            KubeletAction::Remove => remove(&api, &name, &pod).await,
        };
        if done.is_ok() {
            return;
        }
        tokio::time::sleep(RETRY).await;
        match api.get_opt(&name).await {
            Ok(Some(current)) => pod = current,
            Ok(None) => return,
            Err(_) => {}
        }
    }
}

async fn patch(api: &Api<Pod>, name: &str, pod: &Pod, status: &Value) -> kube::Result<()> {
    let version = &pod.metadata.resource_version;
    // Another writer may have set the status meanwhile: the version is a precondition.
    let patch = json!({"metadata": {"resourceVersion": version}, "status": status});
    let patch = Patch::Strategic(patch);
    api.patch_status(name, &PatchParams::default(), &patch)
        .await
        .map(drop)
}

async fn remove(api: &Api<Pod>, name: &str, pod: &Pod) -> kube::Result<()> {
    let params = DeleteParams {
        preconditions: Some(Preconditions {
            uid: pod.metadata.uid.clone(),
            resource_version: None,
        }),
        ..DeleteParams::default().grace_period(0)
    };
    api.delete(name, &params).await.map(drop)
}

/// The status of a pod that has started.
fn running(pod: &Pod) -> Value {
    let given = pod.annotations().get(POD_IP).cloned();
    let ip = given.unwrap_or_else(|| next_ip().to_string());
    let is_ready = passes_gates(pod).unwrap_or(true);
    json!({
        "phase": "Running", "startTime": now(), "podIP": ip, "podIPs": [{"ip": ip}],
        "conditions": [
            condition("PodScheduled", true), condition("Initialized", true),
            condition("ContainersReady", true), ready(is_ready),
        ],
    })
}

fn condition(type_: &str, is_met: bool) -> Value {
    let status = if is_met { "True" } else { "False" };
    json!({"type": type_, "status": status, "lastTransitionTime": now()})
}

/// The condition of a pod whose containers are ready.
fn ready(passes_gates: bool) -> Value {
    let mut ready = condition("Ready", passes_gates);
    if !passes_gates {
        // Without it a node that cannot be reached looks the same.
        ready["reason"] = "ReadinessGatesNotReady".into();
    }
    ready
}

/// To the second, as the API has times.
fn now() -> String {
    let now = k8s_openapi::jiff::Timestamp::now();
    format!("{now:.0}")
}

/// An address that no other pod of this process has, of the range for tests of networks.
fn next_ip() -> Ipv4Addr {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let number = COUNT.fetch_add(1, Ordering::Relaxed) % (1 << 17);
    Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + number)
}
