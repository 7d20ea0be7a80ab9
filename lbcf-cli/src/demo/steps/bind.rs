//! A Bind: two load balancers and their pods in one object.

use crate::demo::cloud_view::Target;
use crate::demo::maps::contains;
use crate::demo::scenario::{Scenario, StepResult, skipped};
use crate::waiting::until;
use lbcf_controller::api::Bind;
use lbcf_driver_sdk::webhook::StringMap;

const NAME: &str = "my-bind";
const LOAD_BALANCERS: usize = 2;

pub(in crate::demo) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    let Some(bind) = scenario.profile.bind() else {
        return skipped(
            "needs three different load balancers: as many items of loadBalancer.valid, or {{unique}} or {{number}} in one",
        );
    };
    scenario.apply::<Bind>(&bind).await?;
    let (own, of_bind) = (&scenario.parameters, &scenario.profile.bind_parameters);
    let mut expected = Vec::new();
    for pod in scenario.addressed(&scenario.pods).await? {
        let address = scenario.environment.cloud.address_of(&pod);
        expected.push((address.clone(), own));
        expected.extend(std::iter::repeat_n((address, of_bind), LOAD_BALANCERS));
    }
    expected.sort();
    until("each load balancer has each pod", async || {
        let mut targets = scenario.environment.cloud.targets().await?;
        targets.sort();
        let is_expected = |(target, (address, parameters)): (&Target, &(String, &StringMap))| {
            target.address == *address && contains(&target.parameters, parameters)
        };
        let is_reached =
            targets.len() == expected.len() && targets.iter().zip(&expected).all(is_expected);
        Ok(is_reached.then_some(()))
    })
    .await?;
    let records = scenario.pods.len() * (1 + LOAD_BALANCERS);
    scenario.until_settled(records).await?;
    for line in scenario.environment.cloud.describe().await {
        scenario.print_note(line)?;
    }
    scenario.delete_completely::<Bind>(NAME).await?;
    scenario.all_registered().await
}
