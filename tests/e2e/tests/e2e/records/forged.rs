//! Records that users create or change: nothing is registered or deregistered for them (d110).

use super::{LONG, registered};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Resource, ResourceExt};
use lbcf_controller::api::{BackendGroup, BackendRecord, reasons};
use lbcf_controller::names::{ANNOTATION_ADDRESS, ANNOTATION_SIGNATURE};
use lbcf_e2e::manifests::{GROUP, NAMESPACE};
use lbcf_e2e::{World, kill, until};
use serde_json::{Value, json};

const GREEN: &str = "lbcf-e2e-green";

/// A record of a user in the namespace `green`, with the load balancer of another namespace's record. Its controller is of
/// another kind, so that no group or Bind decides about it.
async fn forge(world: &World, name: &str, metadata: Value) {
    let records = world.all::<BackendRecord>().await.into_iter();
    let mut of_others = records.filter(|it| it.namespace().as_deref() == Some(NAMESPACE));
    let mut forged = of_others.next().unwrap();
    let owner = world.api::<ConfigMap>(GREEN).get("owner").await.unwrap();
    forged.metadata = serde_json::from_value(metadata).unwrap();
    forged.metadata.name = Some(name.to_owned());
    forged.metadata.namespace = Some(GREEN.to_owned());
    forged.metadata.owner_references = owner.controller_owner_ref(&()).map(|owner| vec![owner]);
    forged.spec.pod_backend = None;
    forged.spec.static_addr = Some("10.99.0.1:80".to_owned());
    forged.status = None;
    world.create(&forged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d110_forged_records_touch_no_load_balancer_of_another_namespace() {
    let (world, _controller) = registered(2, LONG).await;
    world.create_namespace(GREEN).await;
    let mut owner = ConfigMap::default();
    owner.metadata.name = Some("owner".to_owned());
    owner.metadata.namespace = Some(GREEN.to_owned());
    world.create(&owner).await;
    let records = world.all::<BackendRecord>().await;
    let signature = &records[0].annotations()[ANNOTATION_SIGNATURE];
    let before = world.cost();
    let forged = [
        ("plain", json!({})),
        (
            "with-finalizer",
            json!({"finalizers": ["lbcf.tkestack.io/deregister-backend"]}),
        ),
        // The namespace and the name are part of what is signed.
        (
            "copied",
            json!({"annotations": {ANNOTATION_SIGNATURE: signature}}),
        ),
    ];
    for (name, metadata) in forged {
        forge(&world, name, metadata).await;
        until(&format!("{name} is refused"), async || {
            world.cost_since(&before).assert_calls([]);
            let record = world.api::<BackendRecord>(GREEN).get(name).await.unwrap();
            let mut conditions = record.status?.conditions.into_iter();
            conditions.find(|it| it.reason == reasons::NOT_CREATED_BY_CONTROLLER)
        })
        .await;
        world.delete::<BackendRecord>(GREEN, name).await;
        world.until_deleted::<BackendRecord>(GREEN, name).await;
    }
    world.cost_since(&before).assert_calls([]);
    world.until_counts(GROUP, [2; 4]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d110_what_earlier_versions_registered_is_still_deregistered() {
    let (world, controller) = registered(2, LONG).await;
    kill(controller).await;
    let records: Vec<BackendRecord> = world.all().await;
    for record in &records {
        let unsigned = json!({ANNOTATION_SIGNATURE: null, ANNOTATION_ADDRESS: null});
        let unsigned = json!({"metadata": {"annotations": unsigned}});
        world
            .patch::<BackendRecord>(NAMESPACE, &record.name_any(), unsigned)
            .await;
    }
    world.forget_record_key().await;
    let _controller = world.start(World::quick());
    let before = world.cost();
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_records(0).await;
    world
        .cost_since(&before)
        .assert_calls([("deregisterBackend", 2)]);
}
