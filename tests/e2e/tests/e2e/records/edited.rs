//! Records that are edited by hand (d36, d37).

use super::{LONG, apply_static, name_of, record, registered, until_record, weight};
use kube::api::{Patch, PatchParams};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Conditions, EnsurePolicyType, NamespacedKind,
};
use lbcf_controller::names::FINALIZER_BACKEND_RECORD;
use lbcf_e2e::manifests::{self, BIND, NAMESPACE, SERVICE};
use lbcf_e2e::{World, until_is};
use serde_json::{Value, json};

/// A world with the records of a group of pods, of one of static addresses and of a Bind.
async fn of_all_kinds() -> (World, tokio::task::JoinHandle<()>) {
    let (world, controller) = registered(1, LONG).await;
    apply_static(&world, &["my-web.com:80"]).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(3).await;
    (world, controller)
}

async fn delete_all(world: &World) {
    world.delete::<BackendGroup>(NAMESPACE, super::FIXED).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete_basics().await;
}

/// The API server's reason not to store a patch.
async fn refused<K: NamespacedKind>(world: &World, name: &str, patch: Value) -> String {
    let api = world.api::<K>(NAMESPACE);
    let patched = api
        .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    match patched {
        Err(kube::Error::Api(status)) if status.code == 422 => status.message,
        Err(error) => panic!("{patch}: {error}"),
        Ok(_) => panic!("accepted: {patch}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d37_what_identifies_a_backend_is_immutable() {
    let (world, _controller) = of_all_kinds().await;
    let mut service = json!({"name": SERVICE, "port": {"port": 80}, "nodePort": 30080});
    service["nodeName"] = json!("n0");
    for record in world.all::<BackendRecord>().await {
        for (field, value) in [
            ("lbDriver", json!("lbcf-other")),
            ("lbName", json!("other")),
            ("lbInfo", json!({"loadBalancerID": "other"})),
            ("lbInfo", json!(null)),
            ("podBackend", json!({"name": "web-9", "port": {"port": 80}})),
            ("podBackend", json!({"name": "web-0", "port": {"port": 81}})),
            ("staticAddr", json!("my-web.com:99")),
            ("serviceBackend", service.clone()),
        ] {
            let patch = json!({"spec": {field: value}});
            let message = refused::<BackendRecord>(&world, name_of(&record), patch).await;
            let expected = format!("{field} is immutable");
            assert!(message.contains(&expected), "{expected}: {message}");
        }
        let backend = match record.spec.static_addr {
            Some(_) => "staticAddr",
            None => "podBackend",
        };
        let patch = json!({"spec": {backend: null}});
        let message = refused::<BackendRecord>(&world, name_of(&record), patch).await;
        assert!(message.contains("is immutable"), "{message}");
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d36_settings_that_are_edited_are_put_back() {
    let (world, _controller) = of_all_kinds().await;
    let by_hand = json!({"spec": {
        "parameters": {"weight": "99", "another": "1"},
        "ensurePolicy": {"policy": "Always", "minPeriod": "1h"},
    }});
    for before in world.all::<BackendRecord>().await {
        let name = name_of(&before);
        let edited: BackendRecord = world.patch(NAMESPACE, name, by_hand.clone()).await;
        let policy = edited.spec.ensure_policy.map(|policy| policy.policy);
        assert_eq!(policy, Some(EnsurePolicyType::Always));
        until_record(&world, name, "its owner's settings are back", |record| {
            record.spec == before.spec
        })
        .await;
        until_record(&world, name, "it is registered with them", |record| {
            let status = record.status.as_ref().unwrap();
            let registered = status.conditions.find("Registered").unwrap();
            registered.observed_generation == record.metadata.generation
        })
        .await;
    }
    let weights = async || -> Vec<_> {
        let lbs = world.cloud.observe().load_balancers;
        let backends = lbs.into_iter().flat_map(|lb| lb.backends);
        backends.map(|backend| backend.parameters).collect()
    };
    let expected = vec![weight("50").to_wire(); 3];
    until_is("parameters in the cloud", expected, weights).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d36_labels_and_finalizers_that_are_taken_off_are_put_back() {
    let (world, _controller) = of_all_kinds().await;
    let start = world.cost();
    for before in world.all::<BackendRecord>().await {
        let name = name_of(&before);
        let labels = json!({"metadata": {"labels": null}});
        world.patch::<BackendRecord>(NAMESPACE, name, labels).await;
        until_record(&world, name, "it has its labels again", |record| {
            record.metadata.labels == before.metadata.labels
        })
        .await;
        let finalizers = json!({"metadata": {"finalizers": null}});
        world
            .patch::<BackendRecord>(NAMESPACE, name, finalizers)
            .await;
        until_record(&world, name, "it has its finalizer again", |record| {
            record.metadata.finalizers == Some(vec![FINALIZER_BACKEND_RECORD.to_owned()])
        })
        .await;
        // Labels of others stay, and a changed one is corrected.
        let labels = before.metadata.labels.clone().unwrap();
        let own = labels.keys().next().unwrap();
        let edited = json!({"metadata": {"labels": {own: "edited", "mine": "too"}}});
        world.patch::<BackendRecord>(NAMESPACE, name, edited).await;
        let mut expected = labels;
        expected.insert("mine".into(), "too".into());
        until_record(&world, name, "its label is corrected", |record| {
            record.metadata.labels.as_ref() == Some(&expected)
        })
        .await;
        let after = record(&world, name).await.unwrap();
        assert_eq!(after.metadata.uid, before.metadata.uid);
    }
    world.cost_since(&start).assert_calls([]);
    delete_all(&world).await;
}
