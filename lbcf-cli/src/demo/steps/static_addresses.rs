//! Static addresses on another load balancer; and addresses that are left over when a user removes a
//! finalizer while the driver cannot deregister, which the audit finds by listBackends.

use crate::demo::examples::{DRIVER_NAME, STATIC_GROUP};
use crate::demo::kubectl;
use crate::demo::scenario::{NO_MOCK, Scenario, StepOutcome, StepResult, skipped};
use crate::waiting::until;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Conditions, LoadBalancer, LoadBalancerDriver, condition_types,
};
use mock_driver::{FailFault, FaultAction, FaultMatch, FaultRule, Glob};
use serde_json::{Value, json};

const LB: &str = "my-load-balancer-2";
const BG: &str = "my-lb-backend-4";
const ADDRESSES: [&str; 2] = ["1.1.1.1:8080", "my-web.com:8080"];

pub(in crate::demo) async fn register(scenario: &mut Scenario<'_>) -> StepResult {
    if !scenario.environment.has_mock() {
        return skipped(NO_MOCK);
    }
    let load_balancer = scenario.profile.load_balancer_of_static();
    scenario.apply::<LoadBalancer>(&load_balancer).await?;
    let group = scenario.profile.group(STATIC_GROUP);
    scenario.apply::<BackendGroup>(&group).await?;
    until_targets(scenario, "the cloud has the addresses", ADDRESSES.len()).await?;
    let records = scenario.pods.len() + ADDRESSES.len();
    scenario.until_settled(records).await?;
    Ok(StepOutcome::Passed)
}

pub(in crate::demo) async fn left_over(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(faults) = scenario.environment.faults() else {
        return skipped(NO_MOCK);
    };
    let rule = deregistration_fails();
    let endpoint = format!("{}/_mock/faults", scenario.environment.driver_url);
    scenario.print_command(format!("curl {endpoint} -d '{}'", json!(rule)))?;
    let rule = faults.add(rule)?;
    scenario.delete::<BackendGroup>(BG).await?;
    remove_finalizers(scenario).await?;
    // The controller calls listBackends of drivers that offer it.
    let webhooks = scenario
        .kubectl
        .get::<LoadBalancerDriver>(DRIVER_NAME)
        .await?
        .ok_or("the driver does not exist")?
        .spec
        .webhooks;
    let lists = json!({"name": "listBackends", "timeout": "30s"});
    print_webhooks(
        scenario,
        &json!([{"op": "add", "path": "/spec/webhooks/-", "value": lists}]),
    )?;
    let mut with_list = json!(webhooks);
    with_list.as_array_mut().ok_or("no list")?.push(lists);
    set_webhooks(scenario, &with_list).await?;
    // Only what has no record is reported: until then the controller would deregister the addresses
    // of their records.
    until_reported(scenario).await?;
    if targets(scenario).await? != ADDRESSES.len() {
        return Err("the addresses are not left over".to_owned());
    }
    scenario.print_command(format!("curl -X DELETE {endpoint}/{rule}"))?;
    faults.remove(rule);
    until_targets(scenario, "the audit removes the addresses", 0).await?;
    let last = format!("/spec/webhooks/{}", webhooks.len());
    print_webhooks(scenario, &json!([{"op": "remove", "path": last}]))?;
    set_webhooks(scenario, &json!(webhooks)).await?;
    scenario.delete_completely::<LoadBalancer>(LB).await?;
    scenario.all_registered().await
}

fn deregistration_fails() -> FaultRule {
    FaultRule {
        matches: FaultMatch {
            webhook: Some(Glob::from("deregisterBackend")),
            ..FaultMatch::default()
        },
        action: FaultAction::Fail(FailFault::default()),
    }
}

/// Waits until the audit has reported the addresses, all of them.
async fn until_reported(scenario: &Scenario<'_>) -> Result<(), String> {
    until("the condition Drift names the addresses", async || {
        let lb = scenario.kubectl.get::<LoadBalancer>(LB).await?;
        let conditions = lb.and_then(|lb| lb.status).map(|status| status.conditions);
        let drift = conditions
            .as_deref()
            .and_then(|it| it.find(condition_types::DRIFT));
        let is_named = |address: &&str| drift.is_some_and(|it| it.message.contains(*address));
        Ok(ADDRESSES.iter().all(is_named).then_some(()))
    })
    .await
}

/// Removes the finalizers of the group's records, which are deleted but cannot be deregistered.
async fn remove_finalizers(scenario: &Scenario<'_>) -> Result<(), String> {
    let deleted = until("the records are being deleted", async || {
        let records = scenario.kubectl.list::<BackendRecord>().await?;
        let of_group = records
            .into_iter()
            .filter(|it| it.spec.static_addr.is_some());
        let names = of_group
            .filter(|record| record.metadata.deletion_timestamp.is_some())
            .filter_map(|record| record.metadata.name);
        let names: Vec<String> = names.collect();
        Ok((names.len() == ADDRESSES.len()).then_some(names))
    })
    .await?;
    let patch = json!({"metadata": {"finalizers": null}});
    for record in deleted {
        scenario
            .patch::<BackendRecord>(&record, patch.clone())
            .await?;
    }
    Ok(())
}

fn print_webhooks(scenario: &Scenario<'_>, patch: &Value) -> Result<(), String> {
    let target = kubectl::target::<LoadBalancerDriver>();
    scenario.print_command(format!(
        "kubectl patch {target} {DRIVER_NAME} --type=json -p '{patch}'"
    ))
}

async fn set_webhooks(scenario: &Scenario<'_>, webhooks: &Value) -> Result<(), String> {
    let patch = json!({"spec": {"webhooks": webhooks}});
    let kubectl = &scenario.kubectl;
    kubectl
        .patch::<LoadBalancerDriver>(DRIVER_NAME, patch)
        .await
}

async fn until_targets(scenario: &Scenario<'_>, what: &str, expected: usize) -> Result<(), String> {
    until(what, async || {
        Ok((targets(scenario).await? == expected).then_some(()))
    })
    .await
}

/// The number of the addresses that are targets.
async fn targets(scenario: &Scenario<'_>) -> Result<usize, String> {
    let targets = scenario.environment.cloud.targets().await?;
    let is_static = |address: &String| ADDRESSES.contains(&address.as_str());
    Ok(targets.iter().filter(|it| is_static(&it.address)).count())
}
