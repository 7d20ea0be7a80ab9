//! The controller is killed at every write in turn, before and after it: the next one ends with
//! the same cloud, and nothing is left behind.

use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{GROUP, NAMESPACE};
use lbcf_e2e::{Moment, World, interrupt_at};
use serde_json::json;
use tokio::task::JoinHandle;

/// What happens while the controller works: everything there is, in phases that wait for each
/// other.
async fn live(world: &World) {
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
    world
        .patch::<lbcf_controller::api::LoadBalancer>(NAMESPACE, lbcf_e2e::manifests::LB, attributes)
        .await;
    world.until_settled().await;
    lbcf_e2e::until("the cloud has the attribute", async || {
        let seen = world.cloud.observe().load_balancers;
        (seen.len() == 1 && seen[0].attributes["chargeType"] == "MONTHLY").then_some(())
    })
    .await;
    world.delete_basics().await;
}

/// Lives through it with a controller that dies at write number `at`, and the next one after it.
/// Gives whether it got that far.
async fn live_and_die(at: usize, moment: Moment) -> bool {
    let world = World::new().await;
    let (client, interrupted) = interrupt_at(&world.cluster, Some(at), moment);
    let first = world.start_controller_with(client, World::options());
    let mut successor: Option<JoinHandle<()>> = None;
    let mut life = std::pin::pin!(live(&world));
    let mut reached = std::pin::pin!(interrupted.reached());
    loop {
        tokio::select! {
            () = &mut life => break,
            () = &mut reached, if successor.is_none() => {
                first.abort();
                successor = Some(world.start_controller());
            }
        }
    }
    // `live` has seen to it: cloud and cluster are empty, and each phase reached its state.
    successor.inspect(JoinHandle::abort).is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_every_write_in_turn_nothing_is_lost_or_left() {
    let world = World::new().await;
    let (client, counted) = interrupt_at(&world.cluster, None, Moment::Before);
    let controller = world.start_controller_with(client, World::options());
    live(&world).await;
    controller.abort();
    let writes = counted.writes();
    assert!(
        writes >= 20,
        "the scenario has writes to be killed at: {writes}"
    );
    let mut killed = 0;
    for at in 0..writes {
        for moment in [Moment::Before, Moment::After] {
            let scene = format!("killed {moment:?} write {at} of {writes}");
            // A panic in here says at which write.
            println!("{scene}");
            killed += usize::from(live_and_die(at, moment).await);
        }
    }
    println!("killed {killed} times at {writes} writes");
    // How many writes there are varies by a status write or two.
    assert!(
        killed >= 2 * (writes - 3),
        "killed {killed} times, {writes} writes"
    );
}
