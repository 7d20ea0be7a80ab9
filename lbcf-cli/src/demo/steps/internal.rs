//! A load balancer of the Azure-like cloud becomes internal, and public again.

use super::{NO_CLOUD_ACCESS, StepOutcome, StepResult, patch_attributes, until_attributes_stored};
use crate::demo::scenario::Scenario;
use crate::waiting::until;
use serde_json::{Value, json};

const ATTRIBUTE: &str = "azure-load-balancer-internal";

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    set(scenario, json!("true"), ("kubernetes-internal", 0)).await?;
    for line in scenario.environment.cloud.describe().await {
        scenario.print_note(line)?;
    }
    set(scenario, Value::Null, ("kubernetes", 1)).await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}

/// Sets the attribute, and waits until the only load balancer has this name and all backends, and there are
/// so many public IPs.
async fn set(scenario: &Scenario<'_>, value: Value, expected: (&str, usize)) -> Result<(), String> {
    let patch = json!({"spec": {"attributes": {ATTRIBUTE: value}}});
    patch_attributes(scenario, patch).await?;
    until("the frontend and its backends have moved", async || {
        let state = scenario.environment.cloud.azure().ok_or(NO_CLOUD_ACCESS)?;
        let mut load_balancers = state.load_balancers.iter();
        let only = load_balancers
            .next()
            .filter(|_| load_balancers.next().is_none());
        let is_reached = only.is_some_and(|(id, it)| {
            let members = it.resource.pools.values().map(|pool| pool.members.len());
            let members: usize = members.sum();
            let has_frontend = it
                .resource
                .frontends
                .values()
                .all(|it| !it.address.is_empty());
            (id.name.as_str(), state.public_ips.len()) == expected
                && members == scenario.pods.len()
                && has_frontend
        });
        Ok(is_reached.then_some(()))
    })
    .await?;
    until_attributes_stored(scenario).await
}
