//! A record that appears and is not wanted (d36).

use super::{FIXED, LONG, apply_static, name_of, registered};
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind};
use lbcf_e2e::manifests::{self, BIND, NAMESPACE};
use lbcf_e2e::{World, until_is};

/// Creates a copy of a record as a backup restores it: with its owner, under its own name.
async fn restore(world: &World, of: &BackendRecord, change: impl FnOnce(&mut BackendRecord)) {
    let mut copy = of.clone();
    copy.metadata.resource_version = None;
    copy.metadata.uid = None;
    copy.metadata.name = Some(format!("restored-{}", name_of(of)));
    change(&mut copy);
    world.create(&copy).await;
}

/// Waits until just the records remain that were not restored.
async fn until_only(world: &World, records: &[BackendRecord]) {
    let mut expected: Vec<String> = records.iter().map(|it| name_of(it).to_owned()).collect();
    expected.sort();
    until_is("records", expected, async || {
        let records: Vec<BackendRecord> = world.all().await;
        let mut names: Vec<String> = records.iter().map(|it| name_of(it).to_owned()).collect();
        names.sort();
        names
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d36_a_record_that_appears_and_is_not_wanted_is_deregistered_and_removed() {
    let (world, _controller) = registered(1, LONG).await;
    apply_static(&world, &["my-web.com:80"]).await;
    world.until_records(2).await;
    let bound = world.bound();
    let records: Vec<BackendRecord> = world.all().await;
    let mut unselected = manifests::pod("unselected");
    unselected.metadata.labels = None;
    world.create(&unselected).await;
    for record in &records {
        restore(&world, record, |copy| match &mut copy.spec.pod_backend {
            Some(pod) => pod.name = "unselected".into(),
            None => copy.spec.static_addr = Some("my-web.com:99".into()),
        })
        .await;
    }
    until_only(&world, &records).await;
    assert_eq!(world.bound(), bound);
    world.delete::<BackendGroup>(NAMESPACE, FIXED).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d36_a_binds_record_that_appears_and_is_not_wanted_is_removed() {
    let world = World::bare().await;
    let _controller = super::start(&world, LONG);
    world.create_driver().await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(1).await;
    let records: Vec<BackendRecord> = world.all().await;
    restore(&world, &records[0], |_| {}).await;
    until_only(&world, &records).await;
    assert_eq!(world.bound_to("left").len(), 1);
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    assert!(world.bound().is_empty());
}
