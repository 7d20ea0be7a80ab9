//! Records without an owner are adopted, or deregistered and removed (d34).

use super::{
    LONG, SHORT, apply_static, controller_of, delete_orphaning, name_of, record, registered,
    requests, start, until_record,
};
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, DeregisterPolicy, LoadBalancer, LoadBalancerDriver,
};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, kill, until, until_is};
use serde_json::json;
use std::collections::BTreeSet;

/// The uids of all records, which tell whether a record was replaced.
async fn uids(world: &World) -> BTreeSet<String> {
    let records: Vec<BackendRecord> = world.all().await;
    let uids = records.into_iter().map(|record| record.metadata.uid);
    uids.map(Option::unwrap).collect()
}

/// Waits until all of so many records have this controller.
async fn until_owned(world: &World, count: usize, owner: Option<&str>) {
    until(&format!("{count} records have their owner"), async || {
        let records: Vec<BackendRecord> = world.all().await;
        let is_owned = |record: &BackendRecord| {
            controller_of(record).map(|controller| controller.uid.as_str()) == owner
        };
        (records.len() == count && records.iter().all(is_owned)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_a_group_that_is_orphaned_and_created_again_adopts_its_records() {
    let (world, _controller) = registered(3, LONG).await;
    let (before, at_first) = (uids(&world).await, world.cost());
    delete_orphaning::<BackendGroup>(&world, GROUP).await;
    until_owned(&world, 3, None).await;
    let waiting = world.until_event("BackendRecord", "OwnerMissing").await;
    assert!(
        waiting.contains("1h") || waiting.contains("3600s"),
        "{waiting}"
    );
    let orphaned = world.cost();
    let group = world.create(&manifests::group(GROUP, &[LB])).await;
    until_owned(&world, 3, group.metadata.uid.as_deref()).await;
    world.until_counts(GROUP, [3; 4]).await;
    assert_eq!(uids(&world).await, before, "they are the same records");
    // Nothing is registered again, and one write adopts a record.
    world.cost_since(&at_first).assert_calls([]);
    let made = world.cost_since(&orphaned).requests;
    let of = ["create", "patch", "delete"].map(|verb| requests(&made, verb));
    assert_eq!(of, [0, 3, 0], "{made:?}");
    let adopted = world
        .until_event("BackendGroup", "AdoptedBackendRecords")
        .await;
    assert!(
        adopted.starts_with('3') || adopted.contains("3 "),
        "{adopted}"
    );
    // From now on the group has them.
    world.delete::<Pod>(NAMESPACE, "web-2").await;
    world.until_pods(2).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_adopted_records_get_the_settings_of_their_new_owner() {
    let (world, _controller) = registered(2, LONG).await;
    delete_orphaning::<BackendGroup>(&world, GROUP).await;
    // One of the pods is no longer selected, and another one is not ready but kept.
    let label = json!({"metadata": {"labels": {"app": "other"}}});
    world.patch::<Pod>(NAMESPACE, "web-0", label).await;
    world.set_ready("web-1", false).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.parameters = super::weight("70");
    group.spec.deregister_policy = Some(DeregisterPolicy::IfNotRunning);
    let group = world.create(&group).await;
    world.until_targets(&["web-1"], "70").await;
    until_owned(&world, 1, group.metadata.uid.as_deref()).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_backends_of_a_group_that_does_not_return_are_deregistered() {
    let (world, _controller) = registered(3, SHORT).await;
    apply_static(&world, &["my-web.com:80"]).await;
    world.until_records(4).await;
    delete_orphaning::<BackendGroup>(&world, GROUP).await;
    delete_orphaning::<BackendGroup>(&world, "fixed").await;
    world.until_bound(&[]).await;
    // What waited for them is not blocked.
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    let calls = world.calls();
    assert_eq!(calls["deregisterBackend"], 4);
    let message = world.until_event("BackendRecord", "OwnerMissing").await;
    assert!(message.contains("no BackendGroup or Bind"), "{message}");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_records_that_were_orphaned_while_no_controller_ran_are_adopted_or_removed() {
    let (world, controller) = registered(2, LONG).await;
    apply_static(&world, &["my-web.com:80"]).await;
    world.until_records(3).await;
    kill(controller).await;
    let before = world.cost();
    delete_orphaning::<BackendGroup>(&world, GROUP).await;
    delete_orphaning::<BackendGroup>(&world, "fixed").await;
    let group = world.create(&manifests::group(GROUP, &[LB])).await;
    let _controller = start(&world, SHORT);
    until_owned(&world, 2, group.metadata.uid.as_deref()).await;
    // Only the other group's is deregistered.
    let cost = world.cost_since(&before);
    cost.assert_calls([("deregisterBackend", 1)]);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_a_record_that_loses_its_owner_reference_gets_it_back() {
    let (world, _controller) = registered(1, LONG).await;
    let bind = world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(2).await;
    let start = world.cost();
    let by_hand = json!({"metadata": {"ownerReferences": null}});
    for before in world.all::<BackendRecord>().await {
        let (name, owner) = (name_of(&before), controller_of(&before).cloned());
        world
            .patch::<BackendRecord>(NAMESPACE, name, by_hand.clone())
            .await;
        let after = until_record(&world, name, "it has its owner again", |record| {
            controller_of(record).is_some()
        })
        .await;
        assert_eq!(controller_of(&after), owner.as_ref());
        assert_eq!(after.metadata.uid, before.metadata.uid);
    }
    world.cost_since(&start).assert_calls([]);
    // A Bind that is orphaned deletes its load balancers, and so its records.
    delete_orphaning::<Bind>(&world, BIND).await;
    assert_eq!(world.cloud_load_balancer("left"), None);
    let records: Vec<BackendRecord> = world.all().await;
    let of_bind = |record: &&BackendRecord| {
        controller_of(record).is_none_or(|owner| Some(&owner.uid) == bind.metadata.uid.as_ref())
    };
    assert_eq!(records.iter().filter(of_bind).count(), 0);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_records_of_a_bind_that_lost_its_finalizer_are_deregistered() {
    let world = World::bare().await;
    let controller = start(&world, SHORT);
    world.create_driver().await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(1).await;
    kill(controller).await;
    let by_hand = json!({"metadata": {"finalizers": null}});
    world.patch::<Bind>(NAMESPACE, BIND, by_hand).await;
    delete_orphaning::<Bind>(&world, BIND).await;
    let _controller = start(&world, SHORT);
    until_is("bound addresses", 0, async || world.bound().len()).await;
    until_is("records", 0, async || {
        world.all::<BackendRecord>().await.len()
    })
    .await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d34_a_record_made_by_hand_without_an_owner_is_removed() {
    let (world, _controller) = registered(1, SHORT).await;
    let mut by_hand = world.all::<BackendRecord>().await.remove(0);
    by_hand.metadata = kube::api::ObjectMeta {
        name: Some("by-hand".into()),
        namespace: Some(NAMESPACE.into()),
        ..Default::default()
    };
    by_hand.spec.pod_backend = None;
    by_hand.spec.static_addr = Some("my-web.com:80".into());
    by_hand.status = None;
    world.create(&by_hand).await;
    world
        .until_deleted::<BackendRecord>(NAMESPACE, "by-hand")
        .await;
    assert_eq!(world.targets_count(), 1);
    assert!(record(&world, "by-hand").await.is_none());
    world.delete_basics().await;
}
