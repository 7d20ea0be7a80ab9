//! A write is done and its answer lost, and the watch does not tell of it for a long time: what was
//! written is looked up, and no driver is called for the same thing again and again.

use crate::side_by_side::side_by_side;
use http::StatusCode;
use lbcf_controller::api::Bind;
use lbcf_e2e::manifests::{self, BIND, NAMESPACE};
use lbcf_e2e::{Reaction, Release, World, lose_answer, until, until_is};

/// The writes that a group's first backend takes, and a Bind's.
const WRITES: [(&str, usize); 7] = [
    // That the driver is accepted.
    ("loadbalancerdrivers", 1),
    // The finalizer, that creating begins, that it is done.
    ("loadbalancers", 3),
    ("binds", 3),
    // Two records: made, with an address, registered.
    ("backendrecords", 6),
    // The counts.
    ("backendgroups", 1),
    ("events", 4),
    // None at all.
    ("nodes", 1),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_costs_no_second_call() {
    let writes = WRITES
        .into_iter()
        .flat_map(|(resource, writes)| (0..writes).map(move |number| (resource, number)));
    side_by_side(writes, |(resource, number)| async move {
        let mut world = World::new().await;
        let front = world.put_front().await;
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
        let (client, release) = lose_answer(&world.cluster, resource, number);
        let controller = world.start_controller_with(client, World::quick());
        world.until_records(2).await;
        world.until_counts(manifests::GROUP, [1; 4]).await;
        world.until_entry(BIND, "left", "Ready", ("True", "")).await;
        for (webhook, times) in [
            ("createLoadBalancer", 2),
            ("generateBackendAddr", 2),
            ("ensureBackend", 2),
        ] {
            assert_eq!(front.calls_of(webhook).len(), times, "{webhook}");
        }
        end(&world, &release).await;
        controller.abort();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b129_a_failure_does_not_undo_a_success_whose_answer_was_lost() {
    let mut world = World::bare().await;
    let front = world.put_front().await;
    world.create_driver().await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    // From the second time on the driver does not answer properly.
    front.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" if call.number > 0 => {
            Reaction::Instead(StatusCode::INTERNAL_SERVER_ERROR, "broken".into())
        }
        _ => Reaction::Pass,
    });
    let (client, release) = lose_answer(&world.cluster, "binds", 2);
    let _controller = world.start_controller_with(client, World::quick());
    until_is("what is bound", 1, async || world.bound_to("left").len()).await;
    world
        .until_entry(BIND, "left", "Created", ("True", ""))
        .await;
    world.until_records(1).await;
    front.behave();
    end(&world, &release).await;
}

async fn end(world: &World, release: &Release) {
    release.release();
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}
