//! The steps of the tour: sixteen, and what only one profile has.

mod bind;
mod internal;
mod judged;
mod refused;
mod rollout;
mod static_addresses;

use super::cloud_view::contains;
use super::kubectl::{DRIVER, GROUP, NAMESPACE, list_all};
use super::profile::{Profile, in_words, patch};
use super::scenario::Scenario;
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, ResourceExt as _};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LB: &str = "my-load-balancer-1";
const BG: &str = "my-lb-backend-2";
const LBD: &str = "lbcf-clb-application";
const LBD_NAMESPACE: &str = "kube-system";

/// The outcome of a step that did not fail.
pub(super) enum StepOutcome {
    Passed,
    Skipped(&'static str),
}

type StepResult = Result<StepOutcome, String>;

const NO_MOCK: &str = "needs the mock; other drivers decide otherwise";
const NO_CLOUD_ACCESS: &str =
    "needs the state of the cloud: the mock's, or that of an observer in a fixture (--fixture)";

/// The steps of every profile in their order.
pub(super) const STEPS: &[TourStep] = &[
    TourStep::Register,
    TourStep::Refused,
    TourStep::NotReady,
    TourStep::ReadyAgain,
    TourStep::Judged,
    TourStep::Weight,
    TourStep::ScaleUp,
    TourStep::PodDeleted,
    TourStep::Attributes,
    TourStep::DriverDown,
    TourStep::ControllerRestart,
    TourStep::Static,
    TourStep::LeftOver,
    TourStep::Bind,
    TourStep::Rollout,
    TourStep::Teardown,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TourStep {
    Register,
    Refused,
    NotReady,
    ReadyAgain,
    Judged,
    Weight,
    ScaleUp,
    PodDeleted,
    Attributes,
    Internal,
    DriverDown,
    ControllerRestart,
    Static,
    LeftOver,
    Bind,
    Rollout,
    Teardown,
}

impl TourStep {
    pub(super) fn id(self, profile: &Profile) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Refused => "refused",
            Self::NotReady => "not-ready",
            Self::ReadyAgain => "ready-again",
            Self::Judged => "judged",
            Self::Weight if profile.parameters.contains_key("weight") => "weight",
            Self::Weight => "parameters",
            Self::ScaleUp => "scale-up",
            Self::PodDeleted => "pod-deleted",
            Self::Attributes => "attributes",
            Self::Internal => "internal",
            Self::DriverDown => "driver-down",
            Self::ControllerRestart => "controller-restart",
            Self::Static => "static",
            Self::LeftOver => "left-over",
            Self::Bind => "bind",
            Self::Rollout => "rollout",
            Self::Teardown => "teardown",
        }
    }

    pub(super) fn title(self, scenario: &Scenario<'_>) -> String {
        match self {
            Self::Register => format!(
                "driver, load balancer, {} pods and a group with {}: as many targets in the cloud",
                scenario.pods.len(),
                in_words(&scenario.profile.parameters)
            ),
            Self::NotReady => {
                "one pod becomes NotReady: its target is removed, the others are not touched".into()
            }
            Self::ReadyAgain => "it becomes Ready again: its target is added again".into(),
            Self::Refused => {
                "parameters that the driver does not accept: validateBackend refuses it, and nothing changes"
                    .into()
            }
            Self::Judged => {
                "a pod becomes NotReady, and the driver decides that it stays registered; without the annotation that it goes by, it does not"
                    .into()
            }
            Self::Weight => match &scenario.profile.updated_parameters {
                Some(updated) => {
                    format!("the group's parameters change to {}: every target gets them", in_words(updated))
                }
                None => "the group's parameters change: every target gets them".into(),
            },
            Self::ScaleUp => "a pod is added: so is its target".into(),
            Self::PodDeleted => "a pod is deleted: so is its target".into(),
            Self::Attributes => {
                "attributes of the load balancer change: exactly one ensureLoadBalancer".into()
            }
            Self::Internal => {
                "the load balancer becomes internal and public again: the frontend and its backends move to another load balancer, and the public IP goes and comes"
                    .into()
            }
            Self::DriverDown => {
                "the driver is down while a pod is deleted and one is added: applied when it is up again"
                    .into()
            }
            Self::ControllerRestart => {
                "the controller is killed while a pod is deleted: the next one continues".into()
            }
            Self::Static => format!(
                "static addresses are registered with {}",
                scenario.profile.static_load_balancer
            ),
            Self::LeftOver => {
                "a user deletes their records by force while the driver cannot deregister: the audit finds the addresses in the cloud and removes them when it can"
                    .into()
            }
            Self::Bind => {
                "a Bind: two load balancers and their pods in one object, created and deleted".into()
            }
            Self::Rollout => {
                "a Deployment behind a Service is rolled out: its pods wait for the load balancer, so the cloud never has fewer targets than replicas"
                    .into()
            }
            Self::Teardown => {
                "group, load balancer and driver are deleted: the cloud and the cluster are empty"
                    .into()
            }
        }
    }

    pub(super) async fn run(self, scenario: &mut Scenario<'_>) -> StepResult {
        match self {
            Self::Register => register(scenario).await,
            Self::Refused => refused::run(scenario).await,
            Self::NotReady => not_ready(scenario).await,
            Self::ReadyAgain => ready_again(scenario).await,
            Self::Judged => judged::run(scenario).await,
            Self::Weight => weight(scenario).await,
            Self::ScaleUp => scale_up(scenario).await,
            Self::PodDeleted => pod_deleted(scenario).await,
            Self::Attributes => attributes(scenario).await,
            Self::Internal => internal::run(scenario).await,
            Self::DriverDown => driver_down(scenario).await,
            Self::ControllerRestart => controller_restart(scenario).await,
            Self::Static => static_addresses::register(scenario).await,
            Self::LeftOver => static_addresses::left_over(scenario).await,
            Self::Bind => bind::run(scenario).await,
            Self::Rollout => rollout::run(scenario).await,
            Self::Teardown => teardown(scenario).await,
        }
    }
}

async fn register(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_command("kubectl apply -f deploy/examples/00-namespace.yaml")?;
    scenario.kubectl.apply_namespace().await?;
    scenario.print_command(format!("kubectl apply -f {}", DRIVER.0))?;
    scenario.kubectl.apply::<LoadBalancerDriver>(DRIVER).await?;
    let load_balancer = scenario.profile.load_balancer();
    scenario.apply::<LoadBalancer>(&load_balancer).await?;
    scenario.print_command(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # {} of them",
        scenario.pods.len()
    ))?;
    for pod in &scenario.pods {
        scenario.kubectl.create_pod(pod).await?;
    }
    let group = scenario.profile.group(GROUP);
    scenario.apply::<BackendGroup>(&group).await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn not_ready(scenario: &mut Scenario<'_>) -> StepResult {
    let (pod, others) = scenario.pods.split_first().ok_or("there is no pod")?;
    scenario.print_command(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"False"}}]}}}}'"#
    ))?;
    let before = scenario.environment.calls();
    scenario.kubectl.set_ready(pod, false).await?;
    scenario.until_registered(others).await?;
    let ensured = since(scenario, &before, "ensureBackend");
    if ensured > 0 {
        return Err(format!("the others were called: ensureBackend x{ensured}"));
    }
    Ok(StepOutcome::Passed)
}

async fn ready_again(scenario: &mut Scenario<'_>) -> StepResult {
    let pod = scenario.pods.first().ok_or("there is no pod")?;
    scenario.print_command(format!(
        r#"kubectl patch pod -n {NAMESPACE} {pod} --subresource=status -p '{{"status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}}'"#
    ))?;
    scenario.kubectl.set_ready(pod, true).await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn weight(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(updated) = scenario.profile.updated_parameters.clone() else {
        return Ok(StepOutcome::Skipped(
            "the fixture has no backend.parameters.update",
        ));
    };
    let parameters = patch(&scenario.parameters, &updated);
    let patch = json!({"spec": {"parameters": parameters}});
    scenario.print_command(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    scenario
        .kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await?;
    scenario.parameters = updated;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn scale_up(scenario: &mut Scenario<'_>) -> StepResult {
    let pod = add_pod(scenario).await?;
    scenario.pods.push(pod);
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn pod_deleted(scenario: &mut Scenario<'_>) -> StepResult {
    remove_pod(scenario).await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn attributes(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(updated) = scenario.profile.updated_attributes.clone() else {
        return Ok(StepOutcome::Skipped(
            "the fixture has no loadBalancer.update",
        ));
    };
    if !scenario.has_cloud_access() {
        return Ok(StepOutcome::Skipped(NO_CLOUD_ACCESS));
    }
    let attributes = scenario.profile.attributes_patch(&updated);
    let patch = json!({"spec": {"attributes": attributes}});
    let before = scenario.environment.calls();
    patch_attributes(scenario, patch).await?;
    until("the cloud has the attributes", async || {
        let attributes = scenario.environment.cloud.attributes().await?;
        let exists = |lb: &StringMap| contains(lb, &updated);
        Ok(attributes.iter().any(exists).then_some(()))
    })
    .await?;
    until_attributes_stored(scenario).await?;
    match since(scenario, &before, "ensureLoadBalancer") {
        1 => Ok(StepOutcome::Passed),
        calls => Err(format!("ensureLoadBalancer was called {calls} times")),
    }
}

async fn patch_attributes(scenario: &Scenario<'_>, patch: Value) -> Result<(), String> {
    scenario.print_command(format!(
        "kubectl patch lb -n {NAMESPACE} {LB} --type=merge -p '{patch}'"
    ))?;
    let kubectl = &scenario.kubectl;
    kubectl.patch::<LoadBalancer>(NAMESPACE, LB, patch).await
}

/// Waits until the status has the attributes: once it is stored, all calls have been made.
async fn until_attributes_stored(scenario: &Scenario<'_>) -> Result<(), String> {
    until("the load balancer's status has the attribute", async || {
        let lb = scenario.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        let is_stored = lb.is_some_and(|lb| {
            lb.status
                .is_some_and(|status| status.has_synced(&lb.spec.attributes))
        });
        Ok(is_stored.then_some(()))
    })
    .await
}

async fn driver_down(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return Ok(StepOutcome::Skipped(
            "needs the mock; the driver of --driver-url cannot be stopped from here",
        ));
    }
    scenario.print_note("the driver stops")?;
    scenario.environment.stop_driver().await;
    let before = scenario.environment.calls();
    remove_pod(scenario).await?;
    let pod = add_pod(scenario).await?;
    scenario.pods.push(pod);
    for webhook in ["deregisterBackend", "generateBackendAddr"] {
        until(&format!("{webhook} is tried"), async || {
            Ok((since(scenario, &before, webhook) > 0).then_some(()))
        })
        .await?;
    }
    scenario.print_note("the driver starts again")?;
    scenario.environment.start_driver().await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn controller_restart(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_note("the controller is killed")?;
    scenario.environment.kill_controller().await;
    let pod = remove_pod(scenario).await?;
    until("the pod is deleted from the cluster", async || {
        let exists = scenario.kubectl.has_pod(&pod).await?;
        Ok((!exists).then_some(()))
    })
    .await?;
    scenario.print_note("a new controller starts")?;
    scenario.environment.start_controller().await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn teardown(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_command(format!("kubectl delete bg -n {NAMESPACE} {BG}"))?;
    scenario
        .kubectl
        .delete::<BackendGroup>(NAMESPACE, BG)
        .await?;
    scenario.print_command(format!("kubectl delete lb -n {NAMESPACE} {LB}"))?;
    scenario
        .kubectl
        .delete::<LoadBalancer>(NAMESPACE, LB)
        .await?;
    until("the load balancer is deleted", async || {
        let lb = scenario.kubectl.get::<LoadBalancer>(NAMESPACE, LB).await?;
        Ok(lb.is_none().then_some(()))
    })
    .await?;
    scenario.print_command(format!(
        "kubectl label lbd -n {LBD_NAMESPACE} {LBD} lbcf.tkestack.io/driver-draining=true"
    ))?;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "true"}}});
    scenario
        .kubectl
        .patch::<LoadBalancerDriver>(LBD_NAMESPACE, LBD, draining)
        .await?;
    scenario.print_command(format!("kubectl delete lbd -n {LBD_NAMESPACE} {LBD}"))?;
    scenario
        .kubectl
        .delete::<LoadBalancerDriver>(LBD_NAMESPACE, LBD)
        .await?;
    scenario.print_command(format!(
        "kubectl delete pod -n {NAMESPACE} -l app=my-web-server"
    ))?;
    for pod in std::mem::take(&mut scenario.pods) {
        scenario.kubectl.delete_pod(&pod).await?;
    }
    until("the pods are deleted", async || {
        let pods = left_of::<Pod>(&scenario.environment.client()).await;
        Ok(pods.is_empty().then_some(()))
    })
    .await?;
    until("cloud and cluster are empty", async || {
        let mut left = left_in_cluster(&scenario.environment.client()).await;
        left.extend(scenario.environment.cloud.left_behind().await);
        Ok(left.is_empty().then_some(()))
    })
    .await?;
    Ok(StepOutcome::Passed)
}

/// Deletes what another driver has been asked for, wherever the tour was interrupted.
pub(super) async fn clean_up(scenario: &mut Scenario<'_>) -> Result<(), String> {
    // It may have been killed.
    scenario.environment.kill_controller().await;
    scenario.environment.start_controller().await?;
    let client = scenario.environment.client();
    let kubectl = &scenario.kubectl;
    for it in list_all::<Bind>(&client).await? {
        kubectl.delete::<Bind>(NAMESPACE, &it.name_any()).await?;
    }
    for it in list_all::<BackendGroup>(&client).await? {
        kubectl
            .delete::<BackendGroup>(NAMESPACE, &it.name_any())
            .await?;
    }
    for it in list_all::<LoadBalancer>(&client).await? {
        kubectl
            .delete::<LoadBalancer>(NAMESPACE, &it.name_any())
            .await?;
    }
    until("what the demo created is deleted", async || {
        let mut left = left_of::<Bind>(&client).await;
        left.extend(left_of::<BackendGroup>(&client).await);
        left.extend(left_of::<LoadBalancer>(&client).await);
        left.extend(left_of::<BackendRecord>(&client).await);
        Ok(left.is_empty().then_some(()))
    })
    .await
}

async fn add_pod(scenario: &mut Scenario<'_>) -> Result<String, String> {
    let pod = format!("my-pod-{}", scenario.next_pod);
    scenario.next_pod += 1;
    scenario.print_command(format!(
        "kubectl apply -f deploy/examples/40-pod.yaml   # as {pod}"
    ))?;
    scenario.kubectl.create_pod(&pod).await?;
    Ok(pod)
}

async fn remove_pod(scenario: &mut Scenario<'_>) -> Result<String, String> {
    let pod = scenario.pods.pop().ok_or("there is no pod")?;
    scenario.print_command(format!("kubectl delete pod -n {NAMESPACE} {pod}"))?;
    scenario.kubectl.delete_pod(&pod).await?;
    Ok(pod)
}

fn since(scenario: &Scenario<'_>, before: &BTreeMap<&'static str, u64>, webhook: &str) -> u64 {
    let count = |calls: &BTreeMap<&'static str, u64>| calls.get(webhook).copied().unwrap_or(0);
    count(&scenario.environment.calls()) - count(before)
}

/// LBCF's objects that still exist.
pub(super) async fn left_in_cluster(client: &Client) -> Vec<String> {
    let mut left = Vec::new();
    left.extend(left_of::<LoadBalancerDriver>(client).await);
    left.extend(left_of::<LoadBalancer>(client).await);
    left.extend(left_of::<BackendGroup>(client).await);
    left.extend(left_of::<Bind>(client).await);
    left.extend(left_of::<BackendRecord>(client).await);
    left
}

async fn left_of<K: NamespacedKind>(client: &Client) -> Vec<String> {
    let kind = K::kind(&());
    let resource = ApiResource::erase::<K>(&());
    match Api::<DynamicObject>::all_with(client.clone(), &resource)
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
