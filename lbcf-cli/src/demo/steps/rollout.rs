//! A Deployment behind a Service is rolled out while its pods have the readiness gate.

use crate::demo::examples::{DEPLOYMENT, ENDPOINTS_GROUP, NAMESPACE, SERVICE};
use crate::demo::scenario::{Scenario, StepOutcome, StepResult, skipped};
use crate::waiting::until;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::BackendGroup;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

const BG: &str = "my-lb-backend-7";
const NAME: &str = "my-deployment";
const SERVICE_NAME: &str = "my-service";
const LABEL: &str = "my-shop";
const REPLICAS: usize = 4;
/// The time between two looks at the cloud during the rollout.
const OBSERVATION_INTERVAL: Duration = Duration::from_millis(1);

pub(in crate::demo) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return skipped("needs the mock, whose cloud is read each millisecond");
    }
    scenario.apply::<Service>(&SERVICE.into()).await?;
    let group = scenario.profile.group(ENDPOINTS_GROUP);
    scenario.apply::<BackendGroup>(&group).await?;
    scenario.apply::<Deployment>(&DEPLOYMENT.into()).await?;
    let fewest = roll_out(scenario).await;
    delete(scenario).await?;
    let fewest = fewest?;
    if fewest < REPLICAS {
        return Err(format!("the cloud had only {fewest} targets"));
    }
    Ok(StepOutcome::Passed)
}

/// Returns the fewest targets of the Deployment during a rollout.
async fn roll_out(scenario: &Scenario<'_>) -> Result<usize, String> {
    until_rolled_out(scenario).await?;
    let old = until_all_registered(scenario, &BTreeSet::new()).await?;
    scenario.print_command(format!(
        "kubectl rollout restart -n {NAMESPACE} deployment/{NAME}"
    ))?;
    let annotations = json!({"kubectl.kubernetes.io/restartedAt": "now"});
    let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
    let fewest = Cell::new(usize::MAX);
    let observed = observe(scenario, &fewest);
    let rolled_out = async {
        scenario.kubectl.patch::<Deployment>(NAME, patch).await?;
        until_rolled_out(scenario).await?;
        until_all_registered(scenario, &old).await
    };
    tokio::select! {
        never = observed => match never? {},
        done = rolled_out => drop(done?),
    }
    let fewest = fewest.get();
    scenario.print_note(format!(
        "the fewest targets of the Deployment during the rollout: {fewest} of {REPLICAS}"
    ))?;
    Ok(fewest)
}

/// Counts the targets besides those of the other pods until it is dropped.
async fn observe(scenario: &Scenario<'_>, fewest: &Cell<usize>) -> Result<Infallible, String> {
    let others = scenario.pods.len();
    loop {
        let targets = scenario.environment.cloud.targets().await?.len();
        fewest.set(fewest.get().min(targets.saturating_sub(others)));
        tokio::time::sleep(OBSERVATION_INTERVAL).await;
    }
}

async fn until_rolled_out(scenario: &Scenario<'_>) -> Result<(), String> {
    until("the rollout is complete", async || {
        let deployment = scenario.kubectl.get::<Deployment>(NAME).await?;
        let Some(deployment) = deployment else {
            return Ok(None);
        };
        let generation = deployment.metadata.generation;
        let status = deployment.status.unwrap_or_default();
        let counts = [
            status.replicas,
            status.updated_replicas,
            status.available_replicas,
        ];
        let is_all =
            |count: Option<i32>| count.and_then(|it| usize::try_from(it).ok()) == Some(REPLICAS);
        let is_complete = counts.into_iter().all(is_all);
        Ok((status.observed_generation == generation && is_complete).then_some(()))
    })
    .await
}

/// Waits until exactly the Deployment's pods are registered besides the others, and none with one of
/// these addresses; returns theirs.
async fn until_all_registered(
    scenario: &Scenario<'_>,
    old: &BTreeSet<String>,
) -> Result<BTreeSet<String>, String> {
    until("the cloud has exactly the Deployment's pods", async || {
        let pods = scenario.kubectl.list::<Pod>().await?;
        let of_deployment = pods.into_iter().filter(is_of_deployment);
        let addresses = of_deployment.filter_map(|pod| pod.status?.pod_ip);
        let addresses: BTreeSet<String> = addresses.collect();
        let targets = scenario.environment.cloud.targets().await?;
        let count = targets.len();
        let targets: BTreeSet<String> = targets.into_iter().map(|it| it.address).collect();
        let is_reached = addresses.len() == REPLICAS
            && count == REPLICAS + scenario.pods.len()
            && addresses.is_subset(&targets)
            && addresses.is_disjoint(old);
        Ok(is_reached.then_some(addresses))
    })
    .await
}

fn is_of_deployment(pod: &Pod) -> bool {
    let labels = pod.metadata.labels.as_ref();
    labels
        .and_then(|labels| labels.get("app"))
        .map(String::as_str)
        == Some(LABEL)
}

async fn delete(scenario: &Scenario<'_>) -> Result<(), String> {
    scenario.print_command(format!(
        "kubectl delete -n {NAMESPACE} deployment/{NAME} service/{SERVICE_NAME} bg/{BG}"
    ))?;
    let kubectl = &scenario.kubectl;
    kubectl.delete::<Deployment>(NAME).await?;
    kubectl.delete::<Service>(SERVICE_NAME).await?;
    kubectl.delete::<BackendGroup>(BG).await?;
    until("the Deployment's pods are deleted", async || {
        let pods = kubectl.list::<Pod>().await?;
        Ok((!pods.iter().any(is_of_deployment)).then_some(()))
    })
    .await?;
    scenario.until_registered(&scenario.pods).await
}
