//! What the garbage collector leaves to others while it works.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use crate::store::{EventType, Resource, WatchCursor};
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
