//! Binds: load balancers and pods in one object.

mod delays;
mod going;
mod registering;
mod staying;

use lbcf_controller::api::{Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{Front, World, until_is};
use tokio::task::JoinHandle;

const CONTROLLER: &str = "lbcf-controller";
/// The load balancers of the tests' Bind.
const LEFT: &str = "left";
const RIGHT: &str = "right";

/// A world with a driver behind a front, some pods, and a controller.
async fn stage(pods: usize) -> (World, Front, JoinHandle<()>) {
    stage_in(World::new().await, pods).await
}

/// The same without admission, where every call of the driver is counted.
async fn bare_stage(pods: usize) -> (World, Front, JoinHandle<()>) {
    stage_in(World::bare().await, pods).await
}

async fn stage_in(mut world: World, pods: usize) -> (World, Front, JoinHandle<()>) {
    let front = world.put_front().await;
    let controller = start(&world);
    world.create(&manifests::driver(&world.driver_url())).await;
    for number in 0..pods {
        world
            .create(&manifests::pod(&format!("web-{number}")))
            .await;
    }
    (world, front, controller)
}

/// A stage with a Bind whose load balancers have all the pods.
async fn bound(pods: usize) -> (World, Front, JoinHandle<()>) {
    bound_on(stage(pods).await, pods).await
}

/// The same without admission.
async fn bare_bound(pods: usize) -> (World, Front, JoinHandle<()>) {
    bound_on(bare_stage(pods).await, pods).await
}

async fn bound_on(
    (world, front, controller): (World, Front, JoinHandle<()>),
    pods: usize,
) -> (World, Front, JoinHandle<()>) {
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    world.until_records(2 * pods).await;
    until_is("both have all", [pods; 2], async || {
        [LEFT, RIGHT].map(|lb| world.bound_to(lb).len())
    })
    .await;
    (world, front, controller)
}

fn start(world: &World) -> JoinHandle<()> {
    world.start_controller_with(world.cluster.client_as(CONTROLLER), World::quick())
}

/// Deletes the Bind and sees that nothing of it is left.
async fn delete_all(world: &World) {
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}

/// The webhooks of a front's calls, from one on.
fn webhooks(front: &Front, from: usize) -> Vec<String> {
    let calls = front.calls().into_iter().skip(from);
    calls.map(|call| call.webhook).collect()
}

/// What the controller wrote to a resource since then.
fn writes(world: &World, before: &local_cluster::RequestCounts, resource: &str) -> u64 {
    world.cluster.requests().since(before).count(|key| {
        key.user_agent == CONTROLLER && key.is_write() && key.resource.ends_with(resource)
    })
}
