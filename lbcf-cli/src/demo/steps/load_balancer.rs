//! The attributes of the load balancer change.

use crate::demo::examples::LOAD_BALANCER_NAME;
use crate::demo::maps::contains;
use crate::demo::scenario::{NO_CLOUD_ACCESS, Scenario, StepOutcome, StepResult, skipped};
use crate::waiting::until;
use lbcf_controller::api::LoadBalancer;
use mock_driver::azure::AzureState;
use serde_json::{Value, json};

const INTERNAL: &str = "azure-load-balancer-internal";

pub(in crate::demo) async fn attributes(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(updated) = &scenario.profile.updated_attributes else {
        return skipped("the fixture has no loadBalancer.update");
    };
    if !scenario.environment.cloud.is_accessible() {
        return skipped(NO_CLOUD_ACCESS);
    }
    let before = scenario.environment.calls();
    change(scenario, scenario.profile.attributes_patch(updated)).await?;
    until("the cloud has the attributes", async || {
        let attributes = scenario.environment.cloud.attributes().await?;
        Ok(attributes
            .iter()
            .any(|it| contains(it, updated))
            .then_some(()))
    })
    .await?;
    until_stored(scenario).await?;
    match scenario.calls_since(&before, "ensureLoadBalancer") {
        1 => Ok(StepOutcome::Passed),
        calls => Err(format!("ensureLoadBalancer was called {calls} times")),
    }
}

/// A load balancer of the Azure-like cloud becomes internal, and public again.
pub(in crate::demo) async fn internal(scenario: &mut Scenario<'_>) -> StepResult {
    set_internal(scenario, json!("true"), ("kubernetes-internal", 0)).await?;
    for line in scenario.environment.cloud.describe().await {
        scenario.print_note(line)?;
    }
    set_internal(scenario, Value::Null, ("kubernetes", 1)).await?;
    scenario.all_registered().await
}

/// Sets the attribute, and waits until the only load balancer has this name and all backends, and there are
/// so many public IPs.
async fn set_internal(
    scenario: &Scenario<'_>,
    value: Value,
    expected: (&str, usize),
) -> Result<(), String> {
    change(scenario, json!({INTERNAL: value})).await?;
    until("the frontend and its backends have moved", async || {
        let state = scenario.environment.cloud.azure().ok_or(NO_CLOUD_ACCESS)?;
        Ok(has_moved(&state, expected, scenario.pods.len()).then_some(()))
    })
    .await?;
    until_stored(scenario).await
}

fn has_moved(state: &AzureState, expected: (&str, usize), backends: usize) -> bool {
    let mut load_balancers = state.load_balancers.iter();
    let (Some((id, it)), None) = (load_balancers.next(), load_balancers.next()) else {
        return false;
    };
    let members: usize = it
        .resource
        .pools
        .values()
        .map(|pool| pool.members.len())
        .sum();
    let mut frontends = it.resource.frontends.values();
    (id.name.as_str(), state.public_ips.len()) == expected
        && members == backends
        && frontends.all(|it| !it.address.is_empty())
}

async fn change(scenario: &Scenario<'_>, attributes: Value) -> Result<(), String> {
    let patch = json!({"spec": {"attributes": attributes}});
    scenario
        .patch::<LoadBalancer>(LOAD_BALANCER_NAME, patch)
        .await
}

/// Waits until the status has the attributes: once it is stored, all calls have been made.
async fn until_stored(scenario: &Scenario<'_>) -> Result<(), String> {
    until("the load balancer's status has the attribute", async || {
        let lb = scenario
            .kubectl
            .get::<LoadBalancer>(LOAD_BALANCER_NAME)
            .await?;
        let is_stored = lb.is_some_and(|lb| {
            let status = lb.status.as_ref();
            status.is_some_and(|status| status.has_synced(&lb.spec.attributes))
        });
        Ok(is_stored.then_some(()))
    })
    .await
}
