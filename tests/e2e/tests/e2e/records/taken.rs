//! Another controller's record has the name of one that a group needs (d35).

use super::{FIXED, LONG, apply_static, name_of, record, registered, requests, until_record};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::ObjectMeta;
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_controller::names;
use lbcf_e2e::manifests::{LB, NAMESPACE};
use lbcf_e2e::{World, until_is};

const TAKEN: &str = "my-web.com:80";
const FREE: &str = "my-web.com:81";

/// A record of some other controller, at the load balancer of the others and with their labels.
async fn create_foreign(world: &World) -> BackendRecord {
    let owner = ConfigMap {
        metadata: ObjectMeta {
            name: Some("other".into()),
            namespace: Some(NAMESPACE.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    let owner = world.create(&owner).await.controller_owner_ref(&());
    let mut foreign = world.all::<BackendRecord>().await.remove(0);
    foreign.metadata = ObjectMeta {
        name: Some(names::static_record_name(LB, FIXED, TAKEN)),
        namespace: Some(NAMESPACE.into()),
        owner_references: owner.map(|owner: OwnerReference| vec![owner]),
        labels: Some([(names::LABEL_BACKEND_GROUP.to_owned(), FIXED.to_owned())].into()),
        ..ObjectMeta::default()
    };
    foreign.spec.pod_backend = None;
    foreign.spec.static_addr = Some("10.9.9.9:80".into());
    foreign.status = None;
    world.create(&foreign).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d35_a_name_that_is_taken_is_reported_and_not_requested_again_and_again() {
    let (world, _controller) = registered(1, LONG).await;
    let foreign = create_foreign(&world).await;
    let before = world.cluster.requests();
    apply_static(&world, &[TAKEN, FREE]).await;
    let message = world
        .until_event("BackendGroup", "BackendRecordConflict")
        .await;
    assert!(message.contains(name_of(&foreign)), "{message}");
    assert!(message.contains("ConfigMap other"), "{message}");
    // The group's other backend is registered, and follows its changes.
    for weight in ["60", "70"] {
        world.set_weight::<BackendGroup>(FIXED, weight).await;
        let free = names::static_record_name(LB, FIXED, FREE);
        until_record(&world, &free, "it has the weight", |record| {
            record.spec.parameters == super::weight(weight)
        })
        .await;
    }
    world.until_counts(FIXED, [2, 1, 2, 1]).await;
    let made = world.cluster.requests().since(&before);
    assert_eq!(requests(&made, "create"), 1, "{made:?}");
    // The other controller's record is as it was, and nothing is registered for it (d110).
    let now = record(&world, name_of(&foreign)).await.unwrap();
    assert_eq!(now.spec, foreign.spec);
    assert_eq!(now.metadata.labels, foreign.metadata.labels);
    assert_eq!(
        now.metadata.owner_references,
        foreign.metadata.owner_references
    );
    // Once it is gone, the group has its record.
    world.delete::<ConfigMap>(NAMESPACE, "other").await;
    world.until_counts(FIXED, [2, 2, 2, 2]).await;
    until_is("static backends", 2, async || {
        let bound = world.bound();
        bound
            .iter()
            .filter(|addr| addr.starts_with("my-web"))
            .count()
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, FIXED).await;
    world.delete_basics().await;
}
