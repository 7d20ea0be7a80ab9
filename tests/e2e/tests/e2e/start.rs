//! A controller that starts where everything is registered already.

use lbcf_e2e::{World, hold_list, until};

const RESOURCES: [&str; 5] = [
    "loadbalancerdrivers",
    "loadbalancers",
    "backendgroups",
    "backendrecords",
    "pods",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u9_nothing_is_decided_on_half_a_picture() {
    let world = World::new().await;
    let first = world.start_controller();
    world.apply_basics(3).await;
    let pods = ["web-0", "web-1", "web-2"];
    world.until_targets(&pods, "50").await;
    world.until_settled().await;
    first.abort();
    let _ = first.await;

    for held in RESOURCES {
        let (before, calls) = (world.cluster.requests(), world.cloud.calls());
        let (client, release) = hold_list(&world.cluster, held);
        let controller = world.start_controller_with(client, World::options());
        let watched = |resource: &str| {
            let since = world.cluster.requests().since(&before);
            since.count(|key| key.verb == "watch" && key.resource.ends_with(resource)) > 0
        };
        let others = || RESOURCES.iter().filter(|resource| **resource != held);
        until("everything else is listed and watched", async || {
            others().all(|resource| watched(resource)).then_some(())
        })
        .await;
        release.release();
        until("the rest is, too", async || watched(held).then_some(())).await;
        // A change that goes all the way through shows that what came before it is done with.
        world.set_ready("web-0", false).await;
        world.until_targets(&pods[1..], "50").await;
        world.set_ready("web-0", true).await;
        world.until_targets(&pods, "50").await;
        world.until_settled().await;
        let called = world.cloud.calls().difference(&calls);
        assert_eq!(
            (
                called.get("deregisterBackend"),
                called.get("ensureBackend"),
                called.total()
            ),
            (1, 1, 3),
            "{held} came late"
        );
        controller.abort();
        let _ = controller.await;
    }
}
