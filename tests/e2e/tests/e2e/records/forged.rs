//! Records that users create or change: nothing is registered or deregistered for them (d110).

use super::{LONG, SHORT, registered};
use kube::ResourceExt;
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_controller::names::ANNOTATION_SIGNATURE;
use lbcf_e2e::manifests::{GROUP, NAMESPACE};
use lbcf_e2e::{World, kill};
use serde_json::{Value, json};

const GREEN: &str = "lbcf-e2e-green";

/// A record of a user in the namespace `green`, with the load balancer of another namespace's record.
async fn forge(world: &World, name: &str, change: impl Fn(&mut Value)) {
    let records: Vec<BackendRecord> = world.all().await;
    let mut forged = serde_json::to_value(&records[0]).unwrap();
    forged["metadata"] = json!({"name": name, "namespace": GREEN});
    let spec = forged["spec"].as_object_mut().unwrap();
    spec.remove("podBackend");
    spec.insert("staticAddr".to_owned(), json!("10.99.0.1:80"));
    change(&mut forged);
    let forged: BackendRecord = serde_json::from_value(forged).unwrap();
    world.create(&forged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d110_forged_records_touch_no_load_balancer_of_another_namespace() {
    let (world, _controller) = registered(2, SHORT).await;
    world.create_namespace(GREEN).await;
    let before = world.cost();
    forge(&world, "plain", |_| {}).await;
    let finalizer = json!(["lbcf.tkestack.io/deregister-backend"]);
    forge(&world, "with-finalizer", |it| {
        it["metadata"]["finalizers"] = finalizer.clone();
    })
    .await;
    // The signature of another record, which its namespace is part of.
    let records: Vec<BackendRecord> = world.all().await;
    let mut own = records
        .iter()
        .filter(|it| it.metadata.namespace.as_deref() == Some(NAMESPACE));
    let signature =
        own.next().unwrap().metadata.annotations.as_ref().unwrap()[ANNOTATION_SIGNATURE].clone();
    forge(&world, "copied", |it| {
        it["metadata"]["annotations"] = json!({ANNOTATION_SIGNATURE: signature});
    })
    .await;
    for name in ["plain", "with-finalizer", "copied"] {
        // No owner adopts it.
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
        let unsigned = json!({"metadata": {"annotations": {ANNOTATION_SIGNATURE: null}}});
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
