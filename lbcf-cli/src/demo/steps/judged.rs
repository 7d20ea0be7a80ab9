//! The driver decides that a pod which is not ready stays registered.

use super::{BG, LBD, NO_MOCK, StepOutcome, StepResult, since};
use crate::demo::kubectl::NAMESPACE;
use crate::demo::scenario::Scenario;
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::BackendGroup;
use mock_driver::KEEP_REGISTERED;
use serde_json::{Value, json};

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return Ok(StepOutcome::Skipped(NO_MOCK));
    }
    let pod = scenario.pods.first().ok_or("there is no pod")?;
    set_policy(
        scenario,
        json!("Webhook"),
        json!({"driverName": LBD, "failurePolicy": "DoNothing"}),
    )
    .await?;
    annotate(scenario, pod, json!("true")).await?;
    let before = scenario.environment.calls();
    scenario.print_note(format!("{pod} becomes NotReady"))?;
    scenario.kubectl.set_ready(pod, false).await?;
    until("the driver judges the pod", async || {
        Ok((since(scenario, &before, "judgePodDeregister") > 0).then_some(()))
    })
    .await?;
    scenario.until_registered(&scenario.pods).await?;
    // A pod that may be deregistered is, however many stay.
    annotate(scenario, pod, Value::Null).await?;
    set_policy(scenario, Value::Null, Value::Null).await?;
    let others = scenario.pods.iter().filter(|other| *other != pod).cloned();
    scenario
        .until_registered(&others.collect::<Vec<_>>())
        .await?;
    scenario.print_note(format!("{pod} becomes Ready again"))?;
    scenario.kubectl.set_ready(pod, true).await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

async fn set_policy(scenario: &Scenario<'_>, policy: Value, webhook: Value) -> Result<(), String> {
    let patch = json!({"spec": {"deregisterPolicy": policy, "deregisterWebhook": webhook}});
    scenario.print_command(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    scenario
        .kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await
}

async fn annotate(scenario: &Scenario<'_>, pod: &str, value: Value) -> Result<(), String> {
    let change = match value.as_str() {
        Some(value) => format!("{KEEP_REGISTERED}={value}"),
        None => format!("{KEEP_REGISTERED}-"),
    };
    scenario.print_command(format!(
        "kubectl annotate pod -n {NAMESPACE} {pod} {change}"
    ))?;
    let patch = json!({"metadata": {"annotations": {KEEP_REGISTERED: value}}});
    scenario.kubectl.patch::<Pod>(NAMESPACE, pod, patch).await
}
