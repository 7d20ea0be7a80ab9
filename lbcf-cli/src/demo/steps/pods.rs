//! Pods come, go, and change between ready and not ready.

use crate::demo::examples::{DRIVER, DRIVER_NAME, GROUP, GROUP_NAME, NAMESPACE_MANIFEST, POD};
use crate::demo::kubectl;
use crate::demo::scenario::{NO_MOCK, Scenario, StepOutcome, StepResult, skipped};
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver};
use mock_driver::KEEP_REGISTERED;
use serde_json::{Value, json};

pub(in crate::demo) async fn register(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_command(format!("kubectl apply -f {}", NAMESPACE_MANIFEST.0))?;
    scenario.kubectl.apply_namespace().await?;
    scenario.apply::<LoadBalancerDriver>(&DRIVER.into()).await?;
    let load_balancer = scenario.profile.load_balancer();
    scenario.apply::<LoadBalancer>(&load_balancer).await?;
    let count = scenario.pods.len();
    scenario.print_command(format!("kubectl apply -f {}   # {count} of them", POD.0))?;
    for pod in &scenario.pods {
        scenario.kubectl.create_pod(pod).await?;
    }
    let group = scenario.profile.group(GROUP);
    scenario.apply::<BackendGroup>(&group).await?;
    scenario.all_registered().await
}

pub(in crate::demo) async fn not_ready(scenario: &mut Scenario<'_>) -> StepResult {
    let (pod, others) = scenario.pods.split_first().ok_or("there is no pod")?;
    let before = scenario.environment.calls();
    scenario.set_ready(pod, false).await?;
    scenario.until_registered(others).await?;
    let ensured = scenario.calls_since(&before, "ensureBackend");
    if ensured > 0 {
        return Err(format!("the others were called: ensureBackend x{ensured}"));
    }
    Ok(StepOutcome::Passed)
}

pub(in crate::demo) async fn ready_again(scenario: &mut Scenario<'_>) -> StepResult {
    let pod = scenario.pods.first().ok_or("there is no pod")?;
    scenario.set_ready(pod, true).await?;
    scenario.all_registered().await
}

pub(in crate::demo) async fn scale_up(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.add_pod().await?;
    scenario.all_registered().await
}

pub(in crate::demo) async fn pod_deleted(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.remove_pod().await?;
    scenario.all_registered().await
}

/// The driver decides that a pod which is not ready stays registered.
pub(in crate::demo) async fn judged(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return skipped(NO_MOCK);
    }
    let (pod, others) = scenario.pods.split_first().ok_or("there is no pod")?;
    let webhook = json!({"driverName": DRIVER_NAME, "failurePolicy": "DoNothing"});
    set_policy(scenario, json!("Webhook"), webhook).await?;
    annotate(scenario, pod, json!("true")).await?;
    let before = scenario.environment.calls();
    scenario.print_note(format!("{pod} becomes NotReady"))?;
    scenario.kubectl.set_ready(pod, false).await?;
    until("the driver judges the pod", async || {
        Ok((scenario.calls_since(&before, "judgePodDeregister") > 0).then_some(()))
    })
    .await?;
    scenario.until_registered(&scenario.pods).await?;
    // A pod that may be deregistered is, however many stay.
    annotate(scenario, pod, Value::Null).await?;
    set_policy(scenario, Value::Null, Value::Null).await?;
    scenario.until_registered(others).await?;
    scenario.print_note(format!("{pod} becomes Ready again"))?;
    scenario.kubectl.set_ready(pod, true).await?;
    scenario.all_registered().await
}

async fn set_policy(scenario: &Scenario<'_>, policy: Value, webhook: Value) -> Result<(), String> {
    let patch = json!({"spec": {"deregisterPolicy": policy, "deregisterWebhook": webhook}});
    scenario.patch::<BackendGroup>(GROUP_NAME, patch).await
}

async fn annotate(scenario: &Scenario<'_>, pod: &str, value: Value) -> Result<(), String> {
    let change = match value.as_str() {
        Some(value) => format!("{KEEP_REGISTERED}={value}"),
        None => format!("{KEEP_REGISTERED}-"),
    };
    let target = kubectl::target::<Pod>();
    scenario.print_command(format!("kubectl annotate {target} {pod} {change}"))?;
    let patch = json!({"metadata": {"annotations": {KEEP_REGISTERED: value}}});
    scenario.kubectl.patch::<Pod>(pod, patch).await
}
