//! A change that the driver refuses: admission calls validateBackend, and nothing is stored.

use super::{BG, NO_FIELDS, NO_MOCK, StepOutcome, StepResult, since};
use crate::demo::kubectl::NAMESPACE;
use crate::demo::profile::in_words;
use crate::demo::scenario::Scenario;
use lbcf_controller::api::BackendGroup;
use serde_json::json;

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return Ok(StepOutcome::Skipped(NO_MOCK));
    }
    let Some(refused) = &scenario.profile.refused_parameters else {
        return Ok(StepOutcome::Skipped(NO_FIELDS));
    };
    let patch = json!({"spec": {"parameters": refused}});
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
    let names_a_field = refused.keys().any(|key| refusal.contains(key));
    if !names_a_field || since(scenario, &before, "validateBackend") != 1 {
        return Err(format!("not refused by the driver: {refusal}"));
    }
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}
