//! A dry run writes nothing anywhere, and calls only drivers that accept it (d23, b148, u10).

use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, LoadBalancer};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, kill, until};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d23_b148_u10_a_dry_run_writes_nothing_and_calls_only_drivers_that_accept_it() {
    let world = World::new().await;
    let controller = world.start_controller();
    world.settle_basics(2).await;
    kill(controller).await;

    // Something to do for every kind.
    let accepts = json!({"spec": {"acceptDryRunCall": true}});
    world
        .patch::<lbcf_controller::api::LoadBalancerDriver>(SYSTEM, DRIVER, accepts)
        .await;
    let mut rejecting = manifests::driver(&world.driver_url());
    rejecting.metadata.name = Some("lbcf-rejecting".into());
    world.create(&rejecting).await;
    let mut not_called = manifests::load_balancer("not-called");
    not_called.spec.lb_driver = "lbcf-rejecting".into();
    world.create(&not_called).await;
    world.create(&manifests::load_balancer("new")).await;
    let attributes = json!({"spec": {"attributes": {"chargeType": "MONTHLY"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, attributes).await;
    world.create(&manifests::group("another", &[LB])).await;
    let bind: Bind = serde_json::from_value(json!({
        "metadata": {"name": "bind", "namespace": NAMESPACE},
        "spec": {
            "loadBalancers": [{"name": "lb", "driver": DRIVER, "spec": {
                "lbVpcID": "vpc-12345678", "lbListenerPort": "81", "lbListenerProtocol": "TCP",
            }}],
            "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
        },
    }))
    .unwrap();
    world.create(&bind).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    until("the records are being deleted", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let is_deleting = |record: &BackendRecord| record.metadata.deletion_timestamp.is_some();
        records.iter().all(is_deleting).then_some(())
    })
    .await;
    let (before, calls, state) = (
        all_objects(&world).await,
        world.cloud.calls(),
        world.targets(),
    );
    let requests = world.cluster.requests();

    let options = Options {
        dry_run: true,
        ..World::options()
    };
    let controller = world.start_controller_with(world.cluster.client_as("dry"), options);
    until("the driver was called about everything", async || {
        let called = world.cloud.calls().difference(&calls);
        (called.get("createLoadBalancer") >= 2
            && called.get("ensureLoadBalancer") >= 1
            && called.get("deregisterBackend") >= 2)
            .then_some(())
    })
    .await;
    let called = world.cloud.calls().difference(&calls);
    assert_eq!(called.total(), 5, "each once: {called:?}");
    let written = world.cluster.requests().since(&requests);
    assert_eq!(written.writes_by("dry"), 0, "{written:?}");
    assert_eq!(all_objects(&world).await, before);
    assert_eq!(world.targets(), state);
    assert!(!controller.is_finished());
}

async fn all_objects(world: &World) -> Value {
    json!([
        world.all::<LoadBalancer>().await,
        world.all::<BackendGroup>().await,
        world.all::<BackendRecord>().await,
        world.all::<Bind>().await,
        world.all::<k8s_openapi::api::core::v1::Event>().await.len(),
    ])
}
