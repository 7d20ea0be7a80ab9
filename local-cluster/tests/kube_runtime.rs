//! kube's runtime as controllers use it, with and without faults.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy, entry::Entry,
};
use kube::core::PartialObjectMeta;
use kube::runtime::controller::Action;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::wait::{await_condition, delete::delete_and_finalize};
use kube::runtime::watcher::{self, Config};
use kube::runtime::{Controller, WatchStreamExt as _, watcher as watch};
use kube::{Client, ResourceExt};
use local_cluster::{ErrorResponse, Fault, LocalCluster, RequestFilter, Verb, WatchEnd};
use serde_json::json;
use tokio::sync::mpsc;

use crate::fixture::{DEADLINE, eventually, quick};

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"n": "0"}})).unwrap()
}

fn maps(client: Client) -> Api<ConfigMap> {
    Api::default_namespaced(client)
}

async fn set(maps: &Api<ConfigMap>, name: &str, value: &str) {
    let patch = Patch::Merge(json!({"data": {"n": value}}));
    maps.patch(name, &PatchParams::default(), &patch)
        .await
        .unwrap();
}

/// A store that follows the config maps until its task is aborted.
fn follow(api: Api<ConfigMap>, config: Config) -> (Store<ConfigMap>, tokio::task::JoinHandle<()>) {
    let (store, writer) = reflector::store();
    let following = watch(api, config)
        .default_backoff()
        .reflect(writer)
        .applied_objects()
        .for_each(|_| async {});
    (store, tokio::spawn(following))
}

async fn shows(store: &Store<ConfigMap>, name: &str, value: Option<&str>) {
    let key = ObjectRef::new(name).within("default");
    let shown = || async {
        let found = store.get(&key);
        let now = found
            .as_ref()
            .and_then(|map| map.data.as_ref()?.get("n").cloned());
        (now.as_deref() == value).then_some(())
    };
    eventually("the store follows", shown).await;
}

#[tokio::test]
async fn reflectors_follow_through_every_kind_of_broken_watch() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let own = maps(cluster.client_as("own"));
    own.create(&PostParams::default(), &map("a")).await.unwrap();
    for (number, config) in [Config::default(), Config::default().streaming_lists()]
        .into_iter()
        .enumerate()
    {
        let name = format!("reflector-{number}");
        let (store, task) = follow(maps(cluster.client_as(&name)), config);
        tokio::time::timeout(DEADLINE, store.wait_until_ready())
            .await
            .unwrap()
            .unwrap();
        let own_watches = RequestFilter::default()
            .resource("configmaps")
            .user_agent(&name);
        for (step, end) in [WatchEnd::Clean, WatchEnd::Broken, WatchEnd::Expired]
            .iter()
            .enumerate()
        {
            let watching = || async {
                let ended = cluster.faults().end_watches(*end, &own_watches);
                (ended > 0).then_some(())
            };
            eventually("it watches", watching).await;
            // The change happens while there is no watch, or soon after.
            set(&own, "a", &format!("{number}-{step}")).await;
            shows(&store, "a", Some(&format!("{number}-{step}"))).await;
        }
        own.create(&PostParams::default(), &map("b")).await.unwrap();
        shows(&store, "b", Some("0")).await;
        own.delete("b", &DeleteParams::default()).await.unwrap();
        shows(&store, "b", None).await;
        task.abort();
    }
}

#[tokio::test]
async fn metadata_can_be_watched_alone() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let own = maps(cluster.client());
    own.create(&PostParams::default(), &map("a")).await.unwrap();
    let own: Api<PartialObjectMeta<ConfigMap>> = Api::default_namespaced(cluster.client());
    let mut events = watch(own, Config::default()).boxed();
    let seen = async {
        loop {
            if let watcher::Event::InitApply(meta) = events.next().await.unwrap().unwrap() {
                return meta;
            }
        }
    };
    let meta = tokio::time::timeout(DEADLINE, seen).await.unwrap();
    assert_eq!(meta.name_any(), "a");
}

#[tokio::test]
async fn every_kind_of_patch_is_applied() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let maps = maps(cluster.client());
    maps.create(&PostParams::default(), &map("a"))
        .await
        .unwrap();
    let params = PatchParams::default();
    let data = |map: ConfigMap| serde_json::to_value(map.data).unwrap();
    let merged: Patch<_> = Patch::Merge(json!({"data": {"n": null, "m": "1"}}));
    assert_eq!(
        data(maps.patch("a", &params, &merged).await.unwrap()),
        json!({"m": "1"})
    );
    let operations: json_patch::Patch = serde_json::from_value(json!([
        {"op": "test", "path": "/data/m", "value": "1"},
        {"op": "move", "from": "/data/m", "path": "/data/o"},
    ]))
    .unwrap();
    let moved = maps
        .patch("a", &params, &Patch::Json::<()>(operations.clone()))
        .await;
    assert_eq!(data(moved.unwrap()), json!({"o": "1"}));
    let again = maps
        .patch("a", &params, &Patch::Json::<()>(operations))
        .await
        .unwrap_err();
    assert!(matches!(again, kube::Error::Api(status) if status.code == 422));

    let pods: Api<Pod> = Api::default_namespaced(cluster.client());
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]}});
    pods.create(
        &PostParams::default(),
        &serde_json::from_value(pod).unwrap(),
    )
    .await
    .unwrap();
    let strategic =
        Patch::Strategic(json!({"spec": {"containers": [{"name": "b", "image": "y"}]}}));
    let changed = pods.patch("p", &params, &strategic).await.unwrap();
    let images: Vec<_> = changed
        .spec
        .unwrap()
        .containers
        .into_iter()
        .map(|c| c.image.unwrap())
        .collect();
    assert_eq!(images, ["x", "y"]);

    let applied = |value: &str| {
        Patch::Apply(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"s": value}}),
        )
    };
    let [one, two] = ["one", "two"].map(PatchParams::apply);
    maps.patch("b", &one, &applied("1")).await.unwrap();
    let conflict = maps.patch("b", &two, &applied("2")).await.unwrap_err();
    assert!(matches!(conflict, kube::Error::Api(status) if status.code == 409));
    let forced = maps.patch("b", &two.force(), &applied("2")).await.unwrap();
    assert_eq!(data(forced), json!({"s": "2"}));
}

#[tokio::test]
async fn entries_are_created_changed_and_conflict() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let maps = maps(cluster.client());
    let add = |map: &mut ConfigMap| {
        map.data
            .get_or_insert_default()
            .insert("x".into(), "y".into());
    };
    let mut made = maps
        .entry("a")
        .await
        .unwrap()
        .or_insert(|| map("a"))
        .and_modify(add);
    made.commit(&PostParams::default()).await.unwrap();
    let Entry::Occupied(found) = maps.entry("a").await.unwrap() else {
        panic!("it is there");
    };
    assert_eq!(found.get().data.as_ref().unwrap()["x"], "y");
    let mut stale = found.and_modify(|map| map.data = None);
    set(&maps, "a", "other").await;
    let rejected = stale.commit(&PostParams::default()).await.unwrap_err();
    assert!(rejected.to_string().contains("Conflict"), "{rejected}");
    assert!(maps.get("a").await.unwrap().data.is_some());
}

#[tokio::test]
async fn collections_are_deleted_by_selector() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let secrets: Api<Secret> = Api::default_namespaced(cluster.client());
    for number in 0..6 {
        let secret = json!({"metadata": {"name": format!("s{number}"), "labels": {"even": (number % 2 == 0).to_string()}}});
        secrets
            .create(
                &PostParams::default(),
                &serde_json::from_value(secret).unwrap(),
            )
            .await
            .unwrap();
    }
    let even = ListParams::default().labels("even=true");
    let background = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Background),
        ..DeleteParams::default()
    };
    secrets.delete_collection(&background, &even).await.unwrap();
    let left = secrets.list(&ListParams::default()).await.unwrap();
    let left: Vec<String> = left.items.iter().map(ResourceExt::name_any).collect();
    assert_eq!(left, ["s1", "s3", "s5"]);
}

#[tokio::test]
async fn deletions_can_be_awaited() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let maps = maps(cluster.client());
    let held = json!({"metadata": {"name": "a", "finalizers": ["example.com/held"]}});
    maps.create(
        &PostParams::default(),
        &serde_json::from_value(held).unwrap(),
    )
    .await
    .unwrap();
    let deleting = tokio::spawn({
        let maps = maps.clone();
        async move { delete_and_finalize(maps, "a", &DeleteParams::default()).await }
    });
    let going =
        |map: Option<&ConfigMap>| map.is_some_and(|map| map.metadata.deletion_timestamp.is_some());
    let marked = await_condition(maps.clone(), "a", going);
    tokio::time::timeout(DEADLINE, marked)
        .await
        .unwrap()
        .unwrap();
    assert!(!deleting.is_finished());
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("a", &PatchParams::default(), &patch)
        .await
        .unwrap();
    tokio::time::timeout(DEADLINE, deleting)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_controller_converges_despite_faults() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let faults = cluster.faults();
    let mine = || RequestFilter::default().user_agent("controller");
    let guards = [
        faults.inject(
            Fault::abort(ErrorResponse::internal_error())
                .of(mine().verbs(Verb::READS))
                .times(2),
        ),
        faults.inject(
            Fault::abort(ErrorResponse::conflict())
                .of(mine().verbs(Verb::WRITES))
                .times(2),
        ),
        faults.inject(
            Fault::drop_response()
                .of(mine().verbs([Verb::Patch]))
                .times(2),
        ),
        faults.inject(Fault::end_watch(WatchEnd::Expired, 1).of(mine()).times(1)),
    ];
    let client = cluster.client_as("controller");
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let (sender, mut events) = mpsc::unbounded_channel();
    let reconcile = {
        let leases = leases.clone();
        move |map: Arc<ConfigMap>, sender: Arc<mpsc::UnboundedSender<String>>| {
            let leases = leases.clone();
            async move {
                let name = map.name_any();
                let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": {"holderIdentity": name}});
                leases
                    .patch(
                        &name,
                        &PatchParams::apply("controller"),
                        &Patch::Apply(lease),
                    )
                    .await?;
                // The receiver is dropped once the test has seen enough.
                let _ = sender.send(name);
                Ok::<_, kube::Error>(Action::await_change())
            }
        }
    };
    let running = Controller::new(maps(client.clone()), Config::default())
        .owns(leases.clone(), Config::default())
        .run(
            reconcile,
            |_, _, _| Action::requeue(Duration::from_millis(10)),
            Arc::new(sender),
        )
        .for_each(|_| async {});
    let running = tokio::spawn(running);
    let own = maps(cluster.client_as("own"));
    for name in ["a", "b", "c"] {
        own.create(&PostParams::default(), &map(name))
            .await
            .unwrap();
    }
    let mut missing = vec!["a", "b", "c"];
    while !missing.is_empty() {
        let done = tokio::time::timeout(DEADLINE, events.recv())
            .await
            .unwrap()
            .unwrap();
        missing.retain(|name| *name != done);
    }
    let leases: Api<Lease> = Api::default_namespaced(cluster.client());
    assert_eq!(
        leases
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        3
    );
    for guard in &guards {
        tokio::time::timeout(DEADLINE, guard.reached(1))
            .await
            .unwrap();
    }
    running.abort();
}
