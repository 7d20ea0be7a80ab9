//! A Bind: two load balancers and their pods in one object.

use super::{StepOutcome, StepResult};
use crate::demo::kubectl::{BIND, NAMESPACE};
use crate::demo::scenario::Scenario;
use crate::waiting::until;
use lbcf_controller::api::Bind;

const NAME: &str = "my-bind";
/// The weight of its targets, which no other has.
const WEIGHT: &str = "100";
const LOAD_BALANCERS: usize = 2;

pub(super) async fn run(scenario: &mut Scenario<'_>) -> StepResult {
    scenario.print_command(format!("kubectl apply -f {}", BIND.0))?;
    scenario.kubectl.apply::<Bind>(BIND).await?;
    let mut expected = Vec::new();
    for pod in scenario.addressed(&scenario.pods).await? {
        let address = scenario.environment.cloud.address_of(&pod);
        expected.extend(std::iter::repeat_n(address, LOAD_BALANCERS));
    }
    expected.sort();
    until("each load balancer has each pod", async || {
        let targets = scenario.environment.cloud.targets().await?.into_iter();
        let of_bind = targets.filter(|target| target.weight == WEIGHT);
        let mut addresses: Vec<String> = of_bind.map(|target| target.address).collect();
        addresses.sort();
        Ok((addresses == expected).then_some(()))
    })
    .await?;
    let records = scenario.pods.len() * (1 + LOAD_BALANCERS);
    scenario.until_settled(records).await?;
    for line in scenario.environment.cloud.describe().await {
        scenario.print_note(line)?;
    }
    scenario.print_command(format!("kubectl delete bind -n {NAMESPACE} {NAME}"))?;
    scenario.kubectl.delete::<Bind>(NAMESPACE, NAME).await?;
    until("the Bind is deleted", async || {
        let bind = scenario.kubectl.get::<Bind>(NAMESPACE, NAME).await?;
        Ok(bind.is_none().then_some(()))
    })
    .await?;
    scenario.until_registered(&scenario.pods).await?;
    Ok(StepOutcome::Passed)
}
