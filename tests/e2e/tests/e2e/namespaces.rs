//! A driver stays until what uses it is deleted, in whatever order both are deleted: with their
//! namespace, all at once, or the driver by itself.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Conditions, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE, OWN_DRIVER, SYSTEM};
use lbcf_e2e::{CONTROLLER, World, until, until_is};
use local_cluster::{ErrorResponse, Fault, RequestFilter, Verb};
use serde_json::json;
use std::time::Duration;

const FINALIZER: &str = "lbcf.tkestack.io/driver-in-use";

/// Creates a driver, a load balancer, a group, a Bind and pods in [`NAMESPACE`], and waits until the
/// pods are registered with both load balancers.
async fn apply_with_own_driver(world: &World) {
    world.apply_with_own_driver(2).await;
    let mut bind = manifests::bind(BIND, &["a"]);
    bind.spec.load_balancers[0].driver = OWN_DRIVER.into();
    world.create(&bind).await;
    until_is("backends", 4, async || world.targets_count()).await;
}

async fn driver(world: &World, namespace: &str, name: &str) -> Option<LoadBalancerDriver> {
    let driver = world
        .api::<LoadBalancerDriver>(namespace)
        .get_opt(name)
        .await;
    driver.unwrap()
}

async fn finalizers(world: &World) -> Vec<String> {
    let driver = driver(world, SYSTEM, DRIVER).await.unwrap();
    driver.metadata.finalizers.unwrap_or_default()
}

/// How often the controller wrote to drivers, their status left out.
fn driver_writes(world: &World) -> u64 {
    world.cluster.requests().count(|key| {
        key.user_agent == CONTROLLER
            && key.is_write()
            && key.resource == "lbcf.tkestack.io/loadbalancerdrivers"
            && key.subresource.is_empty()
    })
}

/// The reason of a condition of an object's status.
async fn reason<K: NamespacedKind>(world: &World, name: &str, type_: &str) -> Option<String> {
    let object = world.api::<K>(NAMESPACE).get_opt(name).await.unwrap()?;
    let object = serde_json::to_value(object).unwrap();
    let conditions = object["status"]["conditions"].as_array()?.iter();
    let mut of_type = conditions.filter(|condition| condition["type"] == type_);
    Some(of_type.next()?["reason"].as_str()?.to_owned())
}

/// The namespace controller's deletions are reviewed as those of `system:admin`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d33_a_namespace_is_deleted_with_its_driver_under_any_user_name() {
    let world = World::new().await;
    let _controller = world.start_controller();
    apply_with_own_driver(&world).await;
    world.delete_namespace().await;
    world.until_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_a_namespace_is_deleted_driver_first() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    apply_with_own_driver(&world).await;
    world.delete_namespace().await;
    world.until_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_everything_of_a_namespace_is_deleted_at_once_drivers_first() {
    async fn delete_all<K: NamespacedKind>(world: &World) {
        let (delete, all) = (DeleteParams::default(), ListParams::default());
        let api = world.api::<K>(NAMESPACE);
        api.delete_collection(&delete, &all).await.unwrap();
    }
    let world = World::bare().await;
    let _controller = world.start_controller();
    apply_with_own_driver(&world).await;
    delete_all::<LoadBalancerDriver>(&world).await;
    delete_all::<LoadBalancer>(&world).await;
    delete_all::<BackendGroup>(&world).await;
    delete_all::<BackendRecord>(&world).await;
    delete_all::<Bind>(&world).await;
    world.until_nothing_left().await;
}

/// The driver is in another namespace than what uses it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_a_driver_deleted_by_force_serves_its_users_and_takes_no_new_ones() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    world.settle_basics(2).await;
    let drivers = world.api::<LoadBalancerDriver>(SYSTEM);
    drivers
        .delete(DRIVER, &DeleteParams::default())
        .await
        .unwrap();
    until("the driver reports what it waits for", async || {
        let driver = driver(&world, SYSTEM, DRIVER).await.expect("it is kept");
        assert!(driver.metadata.deletion_timestamp.is_some());
        let status = driver.status?;
        let accepted = status.conditions.find("Accepted")?;
        let is_reported = accepted.reason == "DriverInUse"
            && accepted
                .message
                .contains("LoadBalancer lbcf-e2e-web/web-lb");
        is_reported.then_some(())
    })
    .await;
    world.until_event("LoadBalancerDriver", "DriverInUse").await;

    // What exists is changed.
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_targets(&["web-0", "web-1"], "80").await;
    let attributes = json!({"spec": {"attributes": {"chargeType": "MONTHLY"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, attributes).await;
    until("the cloud has the attribute", async || {
        let observed = world.cloud.observe().load_balancers;
        (observed[0].attributes["chargeType"] == "MONTHLY").then_some(())
    })
    .await;

    // Nothing is added.
    world.create(&manifests::load_balancer("second")).await;
    world.create(&manifests::pod("web-2")).await;
    let deleting = Some("DriverDeleting".to_owned());
    until_is("Created", deleting.clone(), async || {
        reason::<LoadBalancer>(&world, "second", "Created").await
    })
    .await;
    until("a record waits for the driver", async || {
        let records = world.all::<BackendRecord>().await;
        for record in &records {
            let name = record.metadata.name.as_deref()?;
            if reason::<BackendRecord>(&world, name, "Registered").await == deleting {
                return Some(());
            }
        }
        None
    })
    .await;
    assert_eq!(world.calls()["createLoadBalancer"], 1);
    world.until_targets(&["web-0", "web-1"], "80").await;

    // What leaves is removed, and the driver with the last of it.
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1"], "80").await;
    for lb in ["second", LB] {
        assert!(driver(&world, SYSTEM, DRIVER).await.is_some());
        world.delete::<LoadBalancer>(NAMESPACE, lb).await;
        world.until_deleted::<LoadBalancer>(NAMESPACE, lb).await;
    }
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_the_finalizer_comes_with_the_first_user_and_goes_with_the_last() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.create_driver().await;
    until("the driver is accepted", async || {
        let status = driver(&world, SYSTEM, DRIVER).await?.status?;
        status.conditions.is_true("Accepted").then_some(())
    })
    .await;
    assert_eq!(finalizers(&world).await, [""; 0]);
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::load_balancer("second")).await;
    world.create_pods(3).await;
    world
        .create(&manifests::group(GROUP, &[LB, "second"]))
        .await;
    until_is("backends", 6, async || world.targets_count()).await;
    assert_eq!(finalizers(&world).await, [FINALIZER]);
    assert_eq!(driver_writes(&world), 1, "one write for all of its users");

    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    assert_eq!(finalizers(&world).await, [FINALIZER]);
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, "second").await;
    until_is("finalizers", Vec::new(), async || finalizers(&world).await).await;
    assert_eq!(driver_writes(&world), 2);

    world.create(&manifests::load_balancer(LB)).await;
    let protected = vec![FINALIZER.to_owned()];
    until_is("finalizers", protected, async || finalizers(&world).await).await;
    // One that was removed by hand is put back.
    let none = json!({"metadata": {"finalizers": []}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, none)
        .await;
    let protected = vec![FINALIZER.to_owned()];
    until_is("finalizers", protected, async || finalizers(&world).await).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_nothing_is_created_before_the_finalizer_is_stored() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    let world = World::bare().await;
    let patches = RequestFilter::default()
        .verbs([Verb::Patch])
        .resource("lbcf.tkestack.io/loadbalancerdrivers")
        .subresource("")
        .user_agent(CONTROLLER);
    let fault = Fault::abort(ErrorResponse::internal_error()).of(patches);
    let fault = world.cluster.faults().inject(fault);
    let _controller = world.start_controller();
    world.apply_basics(1).await;
    until("storing it was tried again", async || {
        (fault.hits() >= 3).then_some(())
    })
    .await;
    assert_eq!(world.calls().get("createLoadBalancer"), None);
    drop(fault);
    world.until_pods(1).await;
    assert_eq!(finalizers(&world).await, [FINALIZER]);
    world.delete_basics().await;
}

/// On a paused clock. The label keeps the group when its namespace is deleted, but not its records.
#[tokio::test]
async fn d33_creations_in_a_namespace_that_is_being_deleted_are_not_repeated() {
    const KEPT: &str = "lbcf.tkestack.io/do-not-delete";
    if lbcf_e2e::needs_embedded("a paused clock") {
        return;
    }
    let world = World::new().await;
    let _controller = world.start_controller();
    world.create_driver().await;
    let mut lb = manifests::load_balancer(LB);
    lb.metadata.labels = Some([(KEPT.to_owned(), String::new())].into());
    world.create(&lb).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.pods = None;
    group.spec.static_addresses = vec!["1.1.1.1:80".into(), "2.2.2.2:80".into()];
    group.metadata.labels = Some([(KEPT.to_owned(), String::new())].into());
    world.create(&group).await;
    world.until_bound(&["1.1.1.1:80", "2.2.2.2:80"]).await;
    world.start_namespace_deletion().await;
    world.until_bound(&[]).await;
    until_is("records", 0, async || {
        world.all::<BackendRecord>().await.len()
    })
    .await;
    let creations = || {
        world.cluster.requests().count(|key| {
            key.user_agent == CONTROLLER
                && key.verb == "create"
                && key.resource == "lbcf.tkestack.io/backendrecords"
        })
    };
    until("the creations are denied", async || {
        (creations() >= 4).then_some(())
    })
    .await;
    let denied = creations();
    tokio::time::pause();
    crate::cost::advance(Duration::from_secs(300)).await;
    tokio::time::resume();
    assert_eq!(creations(), denied);
    let unlabelled = json!({"metadata": {"labels": {KEPT: null}}});
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, unlabelled.clone())
        .await;
    world.patch::<LoadBalancer>(NAMESPACE, LB, unlabelled).await;
    world.until_namespace_deleted().await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}
