//! The ten steps.

use super::kubectl::{DRIVER, GROUP, LOAD_BALANCER, NAMESPACE};
use super::tour::{Tour, until};
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

    pub(super) fn title(self, tour: &Tour<'_>) -> String {
        match self {
            Self::Register => format!(
                "driver, load balancer, {} pods and a group with weight 50: as many targets in the cloud",
                tour.pods.len()
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

    pub(super) async fn take(self, tour: &mut Tour<'_>) -> Outcome {
        match self {
            Self::Register => register(tour).await,
            Self::NotReady => not_ready(tour).await,
            Self::ReadyAgain => ready_again(tour).await,
            Self::Weight => weight(tour).await,
            Self::ScaleUp => scale_up(tour).await,
            Self::PodDeleted => pod_deleted(tour).await,
            Self::Attributes => attributes(tour).await,
            Self::DriverDown => driver_down(tour).await,
            Self::ControllerRestart => controller_restart(tour).await,
            Self::Teardown => teardown(tour).await,
        }
    }
}

async fn register(tour: &mut Tour<'_>) -> Outcome {
    tour.shows("kubectl apply -f deploy/examples/00-namespace.yaml")?;
    tour.kubectl.apply_namespace().await?;
    tour.shows(format!("kubectl apply -f {}", DRIVER.0))?;
    tour.kubectl.apply_driver().await?;
    tour.shows(format!("kubectl apply -f {}", LOAD_BALANCER.0))?;
    tour.kubectl.apply_load_balancer().await?;
    tour.shows(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # {} of them",
        tour.pods.len()
    ))?;
    for pod in &tour.pods {
        tour.kubectl.create_pod(pod).await?;
    }
    tour.shows(format!("kubectl apply -f {}", GROUP.0))?;
    tour.kubectl.apply_group().await?;
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn not_ready(tour: &mut Tour<'_>) -> Outcome {
    let (pod, others) = tour.pods.split_first().ok_or("there is no pod")?;
    tour.shows(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"False"}}]}}}}'"#
    ))?;
    let before = tour.stage.calls();
    tour.kubectl.set_ready(pod, false).await?;
    tour.registered_are(others).await?;
    let ensured = since(tour, &before, "ensureBackend");
    if ensured > 0 {
        return Err(format!("the others were touched: ensureBackend x{ensured}"));
    }
    Ok(Taken::Passed)
}

async fn ready_again(tour: &mut Tour<'_>) -> Outcome {
    let pod = tour.pods.first().ok_or("there is no pod")?;
    tour.shows(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}}'"#
    ))?;
    tour.kubectl.set_ready(pod, true).await?;
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn weight(tour: &mut Tour<'_>) -> Outcome {
    let patch = json!({"spec": {"parameters": {"weight": "80"}}});
    tour.shows(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    tour.kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await?;
    tour.weight = "80";
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn scale_up(tour: &mut Tour<'_>) -> Outcome {
    let pod = add_pod(tour).await?;
    tour.pods.push(pod);
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn pod_deleted(tour: &mut Tour<'_>) -> Outcome {
    remove_pod(tour).await?;
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn attributes(tour: &mut Tour<'_>) -> Outcome {
    if !tour.sees_cloud() {
        return Ok(Taken::Skipped(NO_SIGHT));
    }
    let patch = json!({"spec": {"attributes": {"max-bandwidth-out": "20"}}});
    tour.shows(format!(
        "kubectl patch lb -n {NAMESPACE} {LB} --type=merge -p '{patch}'"
    ))?;
    let before = tour.stage.calls();
    tour.kubectl
        .patch::<LoadBalancer>(NAMESPACE, LB, patch)
        .await?;
    until("the cloud has the attribute", async || {
        let attributes = tour.stage.cloud.attributes();
        let is_there = |lb: &BTreeMap<String, String>| {
            lb.get("max-bandwidth-out")
                .is_some_and(|value| value == "20")
        };
        Ok(attributes.iter().any(is_there).then_some(()))
    })
    .await?;
    // Only when the controller has noted that it is done can one say how often it called.
    until("the load balancer's status has the attribute", async || {
        let lb = tour.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        let is_noted = lb.is_some_and(|lb| {
            lb.status.and_then(|status| status.last_synced_attributes) == Some(lb.spec.attributes)
        });
        Ok(is_noted.then_some(()))
    })
    .await?;
    match since(tour, &before, "ensureLoadBalancer") {
        1 => Ok(Taken::Passed),
        calls => Err(format!("ensureLoadBalancer was called {calls} times")),
    }
}

async fn driver_down(tour: &mut Tour<'_>) -> Outcome {
    if !tour.stage.has_mock() {
        return Ok(Taken::Skipped(
            "needs the mock; the driver of --driver-url cannot be stopped from here",
        ));
    }
    tour.notes("the driver goes away")?;
    tour.stage.stop_driver().await;
    let before = tour.stage.calls();
    remove_pod(tour).await?;
    let pod = add_pod(tour).await?;
    tour.pods.push(pod);
    for webhook in ["deregisterBackend", "generateBackendAddr"] {
        until(&format!("{webhook} is tried"), async || {
            Ok((since(tour, &before, webhook) > 0).then_some(()))
        })
        .await?;
    }
    tour.notes("the driver comes back")?;
    tour.stage.start_driver().await?;
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn controller_restart(tour: &mut Tour<'_>) -> Outcome {
    tour.notes("the controller is killed")?;
    tour.stage.kill_controller().await;
    let gone = remove_pod(tour).await?;
    until("the pod is gone from the cluster", async || {
        let pod = tour.kubectl.get::<Pod>(NAMESPACE, &gone).await?;
        Ok(pod.is_none().then_some(()))
    })
    .await?;
    tour.notes("a new controller starts")?;
    tour.stage.start_controller();
    tour.registered_are(&tour.pods).await?;
    Ok(Taken::Passed)
}

async fn teardown(tour: &mut Tour<'_>) -> Outcome {
    tour.shows(format!("kubectl delete bg -n {NAMESPACE} {BG}"))?;
    tour.kubectl.delete::<BackendGroup>(NAMESPACE, BG).await?;
    tour.shows(format!("kubectl delete lb -n {NAMESPACE} {LB}"))?;
    tour.kubectl.delete::<LoadBalancer>(NAMESPACE, LB).await?;
    until("the load balancer is gone", async || {
        let lb = tour.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        Ok(lb.is_none().then_some(()))
    })
    .await?;
    tour.shows(format!(
        "kubectl label lbd -n {LBD_NAMESPACE} {LBD} lbcf.tkestack.io/driver-draining=true"
    ))?;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "true"}}});
    tour.kubectl
        .patch::<LoadBalancerDriver>(LBD_NAMESPACE, LBD, draining)
        .await?;
    tour.shows(format!("kubectl delete lbd -n {LBD_NAMESPACE} {LBD}"))?;
    tour.kubectl
        .delete::<LoadBalancerDriver>(LBD_NAMESPACE, LBD)
        .await?;
    tour.shows(format!(
        "kubectl delete pod -n {NAMESPACE} -l app=my-web-server"
    ))?;
    for pod in std::mem::take(&mut tour.pods) {
        tour.kubectl.delete_pod(&pod).await?;
    }
    until("the pods are gone", async || {
        let pods = left_of::<Pod>(&tour.stage.client()).await;
        Ok(pods.is_empty().then_some(()))
    })
    .await?;
    until("cloud and cluster are empty", async || {
        let mut left = left_in_cluster(&tour.stage.client()).await;
        left.extend(tour.stage.cloud.left_behind());
        Ok(left.is_empty().then_some(()))
    })
    .await?;
    Ok(Taken::Passed)
}

async fn add_pod(tour: &mut Tour<'_>) -> Result<String, String> {
    let pod = format!("my-pod-{}", tour.next_pod);
    tour.next_pod += 1;
    tour.shows(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # as {pod}"
    ))?;
    tour.kubectl.create_pod(&pod).await?;
    Ok(pod)
}

async fn remove_pod(tour: &mut Tour<'_>) -> Result<String, String> {
    let pod = tour.pods.pop().ok_or("there is no pod")?;
    tour.shows(format!("kubectl delete pod -n {NAMESPACE} {pod}"))?;
    tour.kubectl.delete_pod(&pod).await?;
    Ok(pod)
}

fn since(tour: &Tour<'_>, before: &BTreeMap<&'static str, u64>, webhook: &str) -> u64 {
    let count = |calls: &BTreeMap<&'static str, u64>| calls.get(webhook).copied().unwrap_or(0);
    count(&tour.stage.calls()) - count(before)
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
