//! A write is stored but its response is lost, and the watch does not report it for a long time: the
//! controller reads the object live, and does not call the driver twice for the same operation.

use crate::concurrently::run_concurrently;
use http::StatusCode;
use lbcf_controller::api::Bind;
use lbcf_e2e::manifests::{self, BIND, NAMESPACE};
use lbcf_e2e::{ProxyAction, Release, World, lose_response, sample, until, until_is};

/// How many writes to each resource a group with one backend and a Bind with one backend cost.
const WRITES: [(&str, usize); 7] = [
    // The finalizer, the Accepted condition.
    ("loadbalancerdrivers", 2),
    // The finalizer, the mark that creation begins, the result.
    ("loadbalancers", 3),
    ("binds", 3),
    // Two records: created with the address, registered.
    ("backendrecords", 4),
    // The status with its counts.
    ("backendgroups", 1),
    ("events", 2),
    // The controller writes no nodes.
    ("nodes", 1),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_response_is_lost_costs_no_second_call() {
    if lbcf_e2e::needs_embedded("responses that are lost") {
        return;
    }
    let writes = WRITES
        .into_iter()
        .flat_map(|(resource, writes)| (0..writes).map(move |number| (resource, number)));
    let writes = sample("lost responses", writes, 3);
    run_concurrently(writes, |(resource, number)| async move {
        let mut world = World::new().await;
        let proxy = world.start_proxy().await;
        world.apply_basics(1).await;
        world.create(&manifests::bind(BIND, &["left"])).await;
        until("the pod is ready", async || {
            let pod = world
                .api::<k8s_openapi::api::core::v1::Pod>(NAMESPACE)
                .get("web-0")
                .await
                .unwrap();
            let conditions = pod.status?.conditions?;
            conditions
                .iter()
                .any(|it| it.type_ == "Ready")
                .then_some(())
        })
        .await;
        let (client, release) = lose_response(&world.cluster, resource, number);
        let controller = world.start_controller_with(client, World::quick());
        world.until_records(2).await;
        world.until_counts(manifests::GROUP, [1; 4]).await;
        world.until_entry(BIND, "left", "Ready", ("True", "")).await;
        for (webhook, times) in [
            ("createLoadBalancer", 2),
            ("generateBackendAddr", 2),
            ("ensureBackend", 2),
        ] {
            assert_eq!(proxy.calls_of(webhook).len(), times, "{webhook}");
        }
        end(&world, &release).await;
        controller.abort();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b129_a_failure_does_not_undo_a_success_whose_response_was_lost() {
    if lbcf_e2e::needs_embedded("responses that are lost") {
        return;
    }
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    world.create_driver().await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    // The driver fails every creation but the first call.
    proxy.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" if call.number > 0 => {
            ProxyAction::Reply(StatusCode::INTERNAL_SERVER_ERROR, "broken".into())
        }
        _ => ProxyAction::Forward,
    });
    let (client, release) = lose_response(&world.cluster, "binds", 2);
    let _controller = world.start_controller_with(client, World::quick());
    until_is("bound addresses", 1, async || world.bound_to("left").len()).await;
    world
        .until_entry(BIND, "left", "Created", ("True", ""))
        .await;
    world.until_records(1).await;
    proxy.forward_all();
    end(&world, &release).await;
}

async fn end(world: &World, release: &Release) {
    release.release();
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}
