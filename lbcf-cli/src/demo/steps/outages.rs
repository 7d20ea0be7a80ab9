//! The driver or the controller is not there while pods change.

use crate::demo::scenario::{Scenario, StepResult, skipped};
use crate::waiting::until;
use k8s_openapi::api::core::v1::Pod;

pub(in crate::demo) async fn driver_down(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return skipped("needs the mock; the driver of --driver-url cannot be stopped from here");
    }
    scenario.print_note("the driver stops")?;
    scenario.environment.stop_driver().await;
    let before = scenario.environment.calls();
    scenario.remove_pod().await?;
    scenario.add_pod().await?;
    for webhook in ["deregisterBackend", "generateBackendAddr"] {
        until(&format!("{webhook} is tried"), async || {
            Ok((scenario.calls_since(&before, webhook) > 0).then_some(()))
        })
        .await?;
    }
    scenario.print_note("the driver starts again")?;
    scenario.environment.start_driver().await?;
    scenario.all_registered().await
}

pub(in crate::demo) async fn controller_restart(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_note("the controller is killed")?;
    scenario.environment.kill_controller().await;
    let pod = scenario.remove_pod().await?;
    until("the pod is deleted from the cluster", async || {
        let exists = scenario.kubectl.exists::<Pod>(&pod).await?;
        Ok((!exists).then_some(()))
    })
    .await?;
    scenario.print_note("a new controller starts")?;
    scenario.environment.start_controller().await?;
    scenario.all_registered().await
}
