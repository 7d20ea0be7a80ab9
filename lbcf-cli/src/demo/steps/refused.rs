//! A change that the driver refuses: admission calls validateBackend, and nothing is stored.

use super::{BG, NO_MOCK, StepOutcome, StepResult, since};
use crate::demo::kubectl::NAMESPACE;
use crate::demo::scenario::Scenario;
use lbcf_controller::api::BackendGroup;
use serde_json::json;

/// More than the mock's load balancers can have.
const WEIGHT: &str = "1000";

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return Ok(StepOutcome::Skipped(NO_MOCK));
    }
    let patch = json!({"spec": {"parameters": {"weight": WEIGHT}}});
    scenario.print_command(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    let before = scenario.environment.calls();
    let patched = scenario
        .kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await;
    let Err(refusal) = patched else {
        return Err(format!("the weight {WEIGHT} was accepted"));
    };
    scenario.print_note(&refusal)?;
    if !refusal.contains("weight") || since(scenario, &before, "validateBackend") != 1 {
        return Err(format!("not refused by the driver: {refusal}"));
    }
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}
