//! The ten steps.

use super::kubectl::{DRIVER, GROUP, LOAD_BALANCER, NAMESPACE};
use super::play::{Play, until};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ListParams};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use serde_json::json;
use std::collections::BTreeMap;

const LB: &str = "my-load-balancer-1";
const BG: &str = "my-lb-backend-2";
const LBD: &str = "lbcf-clb-application";
const LBD_NAMESPACE: &str = "kube-system";

/// How a step that did not fail ended.
pub(super) enum Taken {
    Passed,
    Skipped(&'static str),
}

type Outcome = Result<Taken, String>;

const NO_SIGHT: &str = "needs the mock's cloud; with --driver-url nobody sees into the cloud";

/// The steps of the tour, in their order.
pub(super) const STEPS: &[Step] = &[
    Step::Register,
    Step::NotReady,
    Step::ReadyAgain,
    Step::Weight,
    Step::ScaleUp,
    Step::PodDeleted,
    Step::Attributes,
    Step::DriverDown,
    Step::ControllerRestart,
    Step::Teardown,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Register,
    NotReady,
    ReadyAgain,
    Weight,
    ScaleUp,
    PodDeleted,
    Attributes,
    DriverDown,
    ControllerRestart,
    Teardown,
}

impl Step {
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::NotReady => "not-ready",
            Self::ReadyAgain => "ready-again",
            Self::Weight => "weight",
            Self::ScaleUp => "scale-up",
            Self::PodDeleted => "pod-deleted",
            Self::Attributes => "attributes",
            Self::DriverDown => "driver-down",
            Self::ControllerRestart => "controller-restart",
            Self::Teardown => "teardown",
        }
    }

    pub(super) fn title(self, play: &Play<'_>) -> String {
        match self {
            Self::Register => format!(
                "driver, load balancer, {} pods and a group with weight 50: as many targets in the cloud",
                play.pods.len()
            ),
            Self::NotReady => {
                "one pod turns NotReady: its target goes, the others are untouched".into()
            }
            Self::ReadyAgain => "it turns Ready again: its target comes back".into(),
            Self::Weight => "the group's weight becomes 80: every target has it".into(),
            Self::ScaleUp => "one pod more: one target more".into(),
            Self::PodDeleted => "one pod is deleted: its target goes".into(),
            Self::Attributes => {
                "an attribute of the load balancer changes: exactly one ensureLoadBalancer".into()
            }
            Self::DriverDown => {
                "the driver is away while one pod goes and one comes: caught up when it is back"
                    .into()
            }
            Self::ControllerRestart => {
                "the controller is killed while a pod goes away: the next one finishes it".into()
            }
            Self::Teardown => {
                "group, load balancer and driver are deleted: the cloud is empty, nothing is stuck"
                    .into()
            }
        }
    }

    pub(super) async fn take(self, play: &mut Play<'_>) -> Outcome {
        match self {
            Self::Register => register(play).await,
            Self::NotReady => not_ready(play).await,
            Self::ReadyAgain => ready_again(play).await,
            Self::Weight => weight(play).await,
            Self::ScaleUp => scale_up(play).await,
            Self::PodDeleted => pod_deleted(play).await,
            Self::Attributes => attributes(play).await,
            Self::DriverDown => driver_down(play).await,
            Self::ControllerRestart => controller_restart(play).await,
            Self::Teardown => teardown(play).await,
        }
    }
}

async fn register(play: &mut Play<'_>) -> Outcome {
    play.shows("kubectl apply -f deploy/examples/00-namespace.yaml")?;
    play.kubectl.apply_namespace().await?;
    play.shows(format!("kubectl apply -f {}", DRIVER.0))?;
    play.kubectl.apply_driver().await?;
    play.shows(format!("kubectl apply -f {}", LOAD_BALANCER.0))?;
    play.kubectl.apply_load_balancer().await?;
    play.shows(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # {} of them",
        play.pods.len()
    ))?;
    for pod in &play.pods {
        play.kubectl.create_pod(pod).await?;
    }
    play.shows(format!("kubectl apply -f {}", GROUP.0))?;
    play.kubectl.apply_group().await?;
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn not_ready(play: &mut Play<'_>) -> Outcome {
    let (pod, others) = play.pods.split_first().ok_or("there is no pod")?;
    play.shows(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"False"}}]}}}}'"#
    ))?;
    let before = play.stage.calls();
    play.kubectl.set_ready(pod, false).await?;
    play.registered_are(others).await?;
    let ensured = since(play, &before, "ensureBackend");
    if ensured > 0 {
        return Err(format!("the others were touched: ensureBackend x{ensured}"));
    }
    Ok(Taken::Passed)
}

async fn ready_again(play: &mut Play<'_>) -> Outcome {
    let pod = play.pods.first().ok_or("there is no pod")?;
    play.shows(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}}'"#
    ))?;
    play.kubectl.set_ready(pod, true).await?;
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn weight(play: &mut Play<'_>) -> Outcome {
    let patch = json!({"spec": {"parameters": {"weight": "80"}}});
    play.shows(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    play.kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await?;
    play.weight = "80";
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn scale_up(play: &mut Play<'_>) -> Outcome {
    let pod = add_pod(play).await?;
    play.pods.push(pod);
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn pod_deleted(play: &mut Play<'_>) -> Outcome {
    remove_pod(play).await?;
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn attributes(play: &mut Play<'_>) -> Outcome {
    if !play.sees_cloud() {
        return Ok(Taken::Skipped(NO_SIGHT));
    }
    let patch = json!({"spec": {"attributes": {"max-bandwidth-out": "20"}}});
    play.shows(format!(
        "kubectl patch lb -n {NAMESPACE} {LB} --type=merge -p '{patch}'"
    ))?;
    let before = play.stage.calls();
    play.kubectl
        .patch::<LoadBalancer>(NAMESPACE, LB, patch)
        .await?;
    until("the cloud has the attribute", async || {
        let attributes = play.stage.cloud.attributes();
        let is_there = |lb: &BTreeMap<String, String>| {
            lb.get("max-bandwidth-out")
                .is_some_and(|value| value == "20")
        };
        Ok(attributes.iter().any(is_there).then_some(()))
    })
    .await?;
    // Only when the controller has noted that it is done can one say how often it called.
    until("the load balancer's status has the attribute", async || {
        let lb = play.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        let is_noted = lb.is_some_and(|lb| {
            lb.status.and_then(|status| status.last_synced_attributes) == Some(lb.spec.attributes)
        });
        Ok(is_noted.then_some(()))
    })
    .await?;
    match since(play, &before, "ensureLoadBalancer") {
        1 => Ok(Taken::Passed),
        calls => Err(format!("ensureLoadBalancer was called {calls} times")),
    }
}

async fn driver_down(play: &mut Play<'_>) -> Outcome {
    if !play.stage.has_mock() {
        return Ok(Taken::Skipped(
            "needs the mock; the driver of --driver-url cannot be stopped from here",
        ));
    }
    play.notes("the driver goes away")?;
    play.stage.stop_driver().await;
    let before = play.stage.calls();
    remove_pod(play).await?;
    let pod = add_pod(play).await?;
    play.pods.push(pod);
    for webhook in ["deregisterBackend", "generateBackendAddr"] {
        until(&format!("{webhook} is tried"), async || {
            Ok((since(play, &before, webhook) > 0).then_some(()))
        })
        .await?;
    }
    play.notes("the driver comes back")?;
    play.stage.start_driver().await?;
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn controller_restart(play: &mut Play<'_>) -> Outcome {
    play.notes("the controller is killed")?;
    play.stage.kill_controller().await;
    let gone = remove_pod(play).await?;
    until("the pod is gone from the cluster", async || {
        let pod = play.kubectl.get::<Pod>(NAMESPACE, &gone).await?;
        Ok(pod.is_none().then_some(()))
    })
    .await?;
    play.notes("a new controller starts")?;
    play.stage.start_controller();
    play.registered_are(&play.pods).await?;
    Ok(Taken::Passed)
}

async fn teardown(play: &mut Play<'_>) -> Outcome {
    play.shows(format!("kubectl delete bg -n {NAMESPACE} {BG}"))?;
    play.kubectl.delete::<BackendGroup>(NAMESPACE, BG).await?;
    play.shows(format!("kubectl delete lb -n {NAMESPACE} {LB}"))?;
    play.kubectl.delete::<LoadBalancer>(NAMESPACE, LB).await?;
    until("the load balancer is gone", async || {
        let lb = play.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        Ok(lb.is_none().then_some(()))
    })
    .await?;
    play.shows(format!(
        "kubectl label lbd -n {LBD_NAMESPACE} {LBD} lbcf.tkestack.io/driver-draining=true"
    ))?;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "true"}}});
    play.kubectl
        .patch::<LoadBalancerDriver>(LBD_NAMESPACE, LBD, draining)
        .await?;
    play.shows(format!("kubectl delete lbd -n {LBD_NAMESPACE} {LBD}"))?;
    play.kubectl
        .delete::<LoadBalancerDriver>(LBD_NAMESPACE, LBD)
        .await?;
    play.shows(format!(
        "kubectl delete pod -n {NAMESPACE} -l app=my-web-server"
    ))?;
    for pod in std::mem::take(&mut play.pods) {
        play.kubectl.delete_pod(&pod).await?;
    }
    until("the pods are gone", async || {
        let pods = left_of::<Pod>(&play.stage.client()).await;
        Ok(pods.is_empty().then_some(()))
    })
    .await?;
    until("cloud and cluster are empty", async || {
        let mut left = left_in_cluster(&play.stage.client()).await;
        left.extend(play.stage.cloud.left_behind());
        Ok(left.is_empty().then_some(()))
    })
    .await?;
    Ok(Taken::Passed)
}

async fn add_pod(play: &mut Play<'_>) -> Result<String, String> {
    let pod = format!("my-pod-{}", play.next_pod);
    play.next_pod += 1;
    play.shows(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # as {pod}"
    ))?;
    play.kubectl.create_pod(&pod).await?;
    Ok(pod)
}

async fn remove_pod(play: &mut Play<'_>) -> Result<String, String> {
    let pod = play.pods.pop().ok_or("there is no pod")?;
    play.shows(format!("kubectl delete pod -n {NAMESPACE} {pod}"))?;
    play.kubectl.delete_pod(&pod).await?;
    Ok(pod)
}

fn since(play: &Play<'_>, before: &BTreeMap<&'static str, u64>, webhook: &str) -> u64 {
    let count = |calls: &BTreeMap<&'static str, u64>| calls.get(webhook).copied().unwrap_or(0);
    count(&play.stage.calls()) - count(before)
}

/// LBCF's objects that are still there.
pub(super) async fn left_in_cluster(client: &Client) -> Vec<String> {
    let mut left = Vec::new();
    left.extend(left_of::<LoadBalancerDriver>(client).await);
    left.extend(left_of::<LoadBalancer>(client).await);
    left.extend(left_of::<BackendGroup>(client).await);
    left.extend(left_of::<BackendRecord>(client).await);
    left
}

async fn left_of<K: NamespacedKind>(client: &Client) -> Vec<String> {
    let kind = K::kind(&());
    match Api::<K>::all(client.clone())
        .list_metadata(&ListParams::default())
        .await
    {
        Ok(list) => list
            .items
            .into_iter()
            .map(|object| {
                format!(
                    "cluster: {kind} {}",
                    object.metadata.name.unwrap_or_default()
                )
            })
            .collect(),
        Err(error) => vec![format!("cluster: listing {kind}: {error}")],
    }
}
