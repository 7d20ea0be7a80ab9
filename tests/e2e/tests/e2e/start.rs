//! A controller that starts when everything is already registered.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, Bind};
use lbcf_e2e::manifests::{self, BIND, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{World, hold_list, kill, until, until_is};

const RESOURCES: [&str; 8] = [
    "loadbalancerdrivers",
    "loadbalancers",
    "backendgroups",
    "backendrecords",
    "binds",
    "pods",
    "services",
    "nodes",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u9_nothing_is_decided_before_every_kind_is_listed() {
    if lbcf_e2e::needs_embedded("responses that are held") {
        return;
    }
    let world = World::new().await;
    let client = || world.cluster.client_as("lbcf-controller");
    let first = world.start_controller_with(client(), World::quick());
    world.apply_basics(3).await;
    let pods = ["web-0", "web-1", "web-2"];
    world.until_targets(&pods, "50").await;
    world.until_settled().await;
    kill(first).await;

    for held in RESOURCES {
        let (before, calls) = (world.cluster.requests(), world.cloud.calls());
        let (client, release) = hold_list(&world.cluster, held);
        let controller = world.start_controller_with(client, World::quick());
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
        until("the last one is listed and watched", async || {
            watched(held).then_some(())
        })
        .await;
        // A later change that has arrived shows that the earlier ones have been processed.
        world.set_ready("web-0", false).await;
        world.until_targets(&pods[1..], "50").await;
        world.set_ready("web-0", true).await;
        world.until_targets(&pods, "50").await;
        world.until_settled().await;
        let called = world.cloud.calls().difference(&calls);
        let of = |webhook| called.get(webhook);
        assert_eq!(
            (of("deregisterBackend"), of("ensureBackend"), called.total()),
            (1, 1, 3),
            "{held} was listed late"
        );
        kill(controller).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u9_nothing_about_services_and_binds_is_decided_before_every_kind_is_listed() {
    if lbcf_e2e::needs_embedded("responses that are held") {
        return;
    }
    let world = World::new().await;
    let client = || world.cluster.client_as("lbcf-controller");
    let first = world.start_controller_with(client(), World::quick());
    world.apply_basics(1).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let nodes = manifests::service_group("nodes", SERVICE, &[LB]);
    world.create(&nodes).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    // The pod at two load balancers, and two nodes.
    world.until_records(4).await;
    world.until_counts("nodes", [1, 1, 2, 2]).await;
    kill(first).await;

    for held in RESOURCES {
        let (before, calls) = (world.cluster.requests(), world.cloud.calls());
        let (client, release) = hold_list(&world.cluster, held);
        let controller = world.start_controller_with(client, World::quick());
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
        until("the last one is listed and watched", async || {
            watched(held).then_some(())
        })
        .await;
        // A later change that has arrived shows that the earlier ones have been processed.
        world.create(&manifests::pod("web-1")).await;
        world.until_records(6).await;
        world.delete::<Pod>(NAMESPACE, "web-1").await;
        world.until_records(4).await;
        let called = world.cloud.calls().difference(&calls);
        let of = |webhook| called.get(webhook);
        assert_eq!(
            (of("deregisterBackend"), of("ensureBackend"), called.total()),
            (2, 2, 6),
            "{held} was listed late"
        );
        kill(controller).await;
    }
    let client = client();
    let _controller = world.start_controller_with(client, World::quick());
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.delete::<BackendGroup>(NAMESPACE, "nodes").await;
    until_is("bound addresses", 1, async || world.bound().len()).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}
