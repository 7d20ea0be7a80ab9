//! Everything that happens to a load balancer, for tests in which something else goes wrong.

use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::manifests::{GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use serde_json::json;

/// What happens while the controller works: everything there is, in phases that wait for each
/// other.
pub(crate) async fn live(world: &World) {
    world.apply_basics(2).await;
    world.until_targets(&["web-0", "web-1"], "50").await;
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.set_ready("web-0", true).await;
    world.until_targets(&["web-0", "web-1"], "50").await;
    let heavier = json!({"spec": {"parameters": {"weight": "80"}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, heavier).await;
    world.until_targets(&["web-0", "web-1"], "80").await;
    let attributes = json!({"spec": {"attributes": {"chargeType": "MONTHLY"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, attributes).await;
    world.until_settled().await;
    until("the cloud has the attribute", async || {
        let seen = world.cloud.observe().load_balancers;
        (seen.len() == 1 && seen[0].attributes["chargeType"] == "MONTHLY").then_some(())
    })
    .await;
    world.delete_basics().await;
}
