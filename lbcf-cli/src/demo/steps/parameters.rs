//! The group's parameters change, to some that the driver accepts and to some that it does not.

use crate::demo::examples::GROUP_NAME;
use crate::demo::maps::{in_words, patch};
use crate::demo::scenario::{Scenario, StepResult, skipped};
use lbcf_controller::api::BackendGroup;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::json;

/// Admission calls validateBackend, and nothing is stored.
pub(in crate::demo) async fn refused(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(refused) = &scenario.profile.refused_parameters else {
        return skipped("the fixture has no backend.parameters.invalid");
    };
    let before = scenario.environment.calls();
    let Err(refusal) = change(scenario, refused).await else {
        return Err(format!("{} was accepted", in_words(refused)));
    };
    scenario.print_note(&refusal)?;
    let is_named = refused.keys().any(|key| refusal.contains(key));
    let is_good = is_named || !scenario.environment.has_mock();
    // Kubernetes' API server asks again if what it compared with came from its cache and may be old.
    let was_asked = scenario.calls_since(&before, "validateBackend") > 0;
    if !is_good || !was_asked || !refusal.contains("invalid Backend") {
        return Err(format!("not refused by the driver: {refusal}"));
    }
    scenario.all_registered().await
}

pub(in crate::demo) async fn updated(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(updated) = scenario.profile.updated_parameters.clone() else {
        return skipped("the fixture has no backend.parameters.update");
    };
    change(scenario, &updated).await?;
    scenario.parameters = updated;
    scenario.all_registered().await
}

async fn change(scenario: &Scenario<'_>, to: &StringMap) -> Result<(), String> {
    let patch = json!({"spec": {"parameters": patch(&scenario.parameters, to)}});
    scenario.patch::<BackendGroup>(GROUP_NAME, patch).await
}
