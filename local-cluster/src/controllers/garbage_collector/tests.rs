use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use super::*;
use crate::object::object;
use crate::store::WatchCursor;
use crate::{LocalCluster, LocalClusterOptions};

/// Four times the watch cache.
const DEPENDENTS: usize = 400;

#[tokio::test]
async fn a_watch_keeps_up_with_the_deletion_of_many_dependents() {
    let options = LocalClusterOptions {
        event_history: DEPENDENTS / 4,
        ..LocalClusterOptions::default()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let create = async |manifest| {
        let map = serde_json::from_value(manifest).unwrap();
        maps.create(&PostParams::default(), &map).await.unwrap()
    };
    let owner = create(json!({"metadata": {"name": "owner"}})).await;
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
        "uid": owner.metadata.uid}]);
    for number in 0..DEPENDENTS {
        let name = format!("dependent-{number}");
        create(json!({"metadata": {"name": name, "ownerReferences": owners}})).await;
    }

    let store = &cluster.cluster.store;
    let resource = Resource::new("", "configmaps");
    let mut cursor = WatchCursor::of(store, &resource, store.revision());
    let deletion = DeleteParams::background();
    maps.delete("owner", &deletion).await.unwrap();
    let mut deleted = 0;
    while deleted < 1 + DEPENDENTS {
        let events = cursor.next().await.expect("the watch has not expired");
        let deletions = events.iter().filter(|it| it.kind == EventType::Deleted);
        deleted += deletions.count();
    }
}

fn stored(uid: &str, owners: &[&str], extra: Value) -> Stored {
    let references: Vec<Value> = owners
        .iter()
        .map(|o| json!({"uid": o, "blockOwnerDeletion": true}))
        .collect();
    let mut meta =
        json!({"name": uid, "namespace": "d", "uid": uid, "ownerReferences": references});
    json_patch::merge(&mut meta, &extra);
    Stored::new(object(json!({"metadata": meta})), 1)
}

fn graph(objects: &[Stored]) -> DependencyGraph {
    let mut graph = DependencyGraph::default();
    for object in objects {
        graph.insert(&Resource::new("g", "things"), object);
    }
    graph
}

#[test]
fn dependents_are_deleted_with_their_last_owner() {
    let mut graph = graph(&[
        stored("a", &[], json!({})),
        stored("b", &[], json!({})),
        stored("c", &["a", "b"], json!({})),
    ]);
    assert_eq!(graph.decide("c"), None);
    assert_eq!(graph.remove("a"), ["c"]);
    assert_eq!(
        graph.decide("c"),
        Some(GarbageAction::RemoveOwners(vec!["a".into()]))
    );
    graph.remove("b");
    assert_eq!(
        graph.decide("c"),
        Some(GarbageAction::Delete(Propagation::Background))
    );
}

#[test]
fn foreground_deletion_starts_at_the_leaves() {
    let foreground = json!({"deletionTimestamp": "t", "finalizers": [FOREGROUND]});
    let mut graph = graph(&[
        stored("root", &[], foreground),
        stored("branch", &["root"], json!({})),
        stored("leaf", &["branch"], json!({})),
    ]);
    assert_eq!(graph.decide("root"), None);
    assert_eq!(
        graph.decide("branch"),
        Some(GarbageAction::Delete(Propagation::Foreground))
    );
    graph.remove("leaf");
    assert_eq!(
        graph.decide("branch"),
        Some(GarbageAction::Delete(Propagation::Background))
    );
    assert_eq!(graph.remove("branch"), ["root"]);
    assert_eq!(
        graph.decide("root"),
        Some(GarbageAction::RemoveFinalizer(FOREGROUND))
    );
}

#[test]
fn orphans_lose_the_reference_before_their_owner_is_deleted() {
    let orphaning = json!({"deletionTimestamp": "t", "finalizers": [ORPHAN]});
    let mut graph = graph(&[stored("a", &[], orphaning), stored("b", &["a"], json!({}))]);
    assert_eq!(
        graph.decide("a"),
        Some(GarbageAction::Orphan(vec!["b".into()]))
    );
    assert_eq!(graph.decide("b"), None);
    let freed = graph.insert(&Resource::new("g", "things"), &stored("b", &[], json!({})));
    assert_eq!(freed, ["a", "b"]);
    assert_eq!(
        graph.decide("a"),
        Some(GarbageAction::RemoveFinalizer(ORPHAN))
    );
}

#[test]
fn an_owner_in_another_namespace_does_not_count() {
    let graph = graph(&[
        stored("a", &[], json!({"namespace": "other"})),
        stored("b", &["a"], json!({})),
    ]);
    assert_eq!(
        graph.decide("b"),
        Some(GarbageAction::Delete(Propagation::Background))
    );
}
