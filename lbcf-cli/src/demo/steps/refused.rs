//! A change that the driver refuses: admission calls validateBackend, and nothing is stored.

use super::{BG, StepOutcome, StepResult, since};
use crate::demo::kubectl::NAMESPACE;
use crate::demo::profile::{in_words, patch};
use crate::demo::scenario::Scenario;
use lbcf_controller::api::BackendGroup;
use serde_json::json;

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(refused) = &scenario.profile.refused_parameters else {
        return Ok(StepOutcome::Skipped(
            "the fixture has no backend.parameters.invalid",
        ));
    };
    let parameters = patch(&scenario.parameters, refused);
    let patch = json!({"spec": {"parameters": parameters}});
    scenario.print_command(format!(
        "kubectl patch bg -n {NAMESPACE} {BG} --type=merge -p '{patch}'"
    ))?;
    let before = scenario.environment.calls();
    let patched = scenario
        .kubectl
        .patch::<BackendGroup>(NAMESPACE, BG, patch)
        .await;
    let Err(refusal) = patched else {
        return Err(format!("{} was accepted", in_words(refused)));
    };
    scenario.print_note(&refusal)?;
    let is_named = refused.keys().any(|key| refusal.contains(key));
    let is_good = is_named || !scenario.environment.has_mock();
    if !is_good
        || !refusal.contains("invalid Backend")
        || since(scenario, &before, "validateBackend") != 1
    {
        return Err(format!("not refused by the driver: {refusal}"));
    }
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}
