//! Binds: load balancers and backends in one object.

mod delays;
mod deleting;
mod registering;
mod services;
mod updating;

use lbcf_controller::Options;
use lbcf_controller::api::{Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{DriverProxy, World, until_is};
use std::time::Duration;
use tokio::task::JoinHandle;

const LEFT: &str = "left";
const RIGHT: &str = "right";

/// A world with a driver behind a proxy, some pods, and a controller.
async fn setup(pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    setup_in(World::new().await, pods).await
}

/// Like [`setup`], without admission, for tests that count every call of the driver.
async fn bare_setup(pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    setup_in(World::bare().await, pods).await
}

/// Without the rules of the CRDs: for Binds that they refuse.
async fn setup_without_rules(pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    setup_in(World::without_rules().await, pods).await
}

async fn setup_in(mut world: World, pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    let proxy = world.start_proxy().await;
    let controller = start(&world);
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create_pods(pods).await;
    (world, proxy, controller)
}

/// A [`setup`] with a Bind of two load balancers that have all the pods registered.
async fn bound(pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    bound_on(setup(pods).await, pods).await
}

/// Like [`bound`], without admission.
async fn bare_bound(pods: usize) -> (World, DriverProxy, JoinHandle<()>) {
    bound_on(bare_setup(pods).await, pods).await
}

async fn bound_on(
    (world, proxy, controller): (World, DriverProxy, JoinHandle<()>),
    pods: usize,
) -> (World, DriverProxy, JoinHandle<()>) {
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    world.until_records(2 * pods).await;
    until_is("both have all pods", [pods; 2], async || {
        [LEFT, RIGHT].map(|lb| world.bound_to(lb).len())
    })
    .await;
    (world, proxy, controller)
}

/// A controller that writes counts only together with an entry, so that tests can count writes.
fn start(world: &World) -> JoinHandle<()> {
    let options = Options {
        status_interval: Duration::from_secs(3600),
        ..World::options()
    };
    world.start(options)
}

/// Deletes the Bind and waits until nothing is left.
async fn delete_all(world: &World) {
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}

/// The webhooks of the calls from number `from` on.
fn webhooks(proxy: &DriverProxy, from: usize) -> Vec<String> {
    let calls = proxy.calls().into_iter().skip(from);
    calls.map(|call| call.webhook).collect()
}
