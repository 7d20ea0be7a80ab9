//! Everything is deleted, at the end of the tour or wherever it was interrupted.

use crate::demo::examples::{DRIVER_NAME, GROUP_NAME, LOAD_BALANCER_NAME, NAMESPACE};
use crate::demo::kubectl;
use crate::demo::scenario::{Scenario, StepOutcome, StepResult};
use crate::manifests::{delete_load_balancers, lbcf_objects};
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver};
use lbcf_controller::names::LABEL_DRIVER_DRAINING;
use serde_json::json;

pub(in crate::demo) async fn teardown(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.delete::<BackendGroup>(GROUP_NAME).await?;
    scenario
        .delete_completely::<LoadBalancer>(LOAD_BALANCER_NAME)
        .await?;
    delete_driver(scenario).await?;
    scenario.print_command(format!(
        "kubectl delete pod -n {NAMESPACE} -l app=my-web-server"
    ))?;
    let kubectl = &scenario.kubectl;
    for pod in std::mem::take(&mut scenario.pods) {
        kubectl.delete::<Pod>(&pod).await?;
    }
    until("the pods are deleted", async || {
        let pods = kubectl.list::<Pod>().await?;
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

async fn delete_driver(scenario: &Scenario<'_>) -> Result<(), String> {
    let target = kubectl::target::<LoadBalancerDriver>();
    scenario.print_command(format!(
        "kubectl label {target} {DRIVER_NAME} {LABEL_DRIVER_DRAINING}=true"
    ))?;
    let draining = json!({"metadata": {"labels": {LABEL_DRIVER_DRAINING: "true"}}});
    let kubectl = &scenario.kubectl;
    kubectl
        .patch::<LoadBalancerDriver>(DRIVER_NAME, draining)
        .await?;
    scenario.delete::<LoadBalancerDriver>(DRIVER_NAME).await
}

/// Deletes what the demo asked another driver for, and what it created in a cluster of the user's.
pub(in crate::demo) async fn clean_up(scenario: &mut Scenario<'_>) -> Result<(), String> {
    // It may have been killed.
    scenario.environment.kill_controller().await;
    scenario.environment.start_controller().await?;
    delete_load_balancers(&scenario.environment.client()).await?;
    if scenario.environment.is_cluster_of_user {
        let kubectl = &scenario.kubectl;
        if kubectl.exists::<LoadBalancerDriver>(DRIVER_NAME).await? {
            delete_driver(scenario).await?;
        }
        until("the demo's namespace is deleted", async || {
            Ok((!kubectl.delete_namespace().await?).then_some(()))
        })
        .await?;
    }
    Ok(())
}

/// LBCF's objects that still exist.
pub(in crate::demo) async fn left_in_cluster(client: &Client) -> Vec<String> {
    let in_cluster = |what: String| format!("cluster: {what}");
    let left = lbcf_objects(client).await.unwrap_or_else(|why| vec![why]);
    left.into_iter().map(in_cluster).collect()
}
