//! Controllers retry after the disk refused their writes.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use crate::store::TempDirectory;
use crate::{LocalCluster, LocalClusterOptions};

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    waited.unwrap_or_else(|_| panic!("not in time: {what}"));
}

#[tokio::test(start_paused = true)]
async fn refused_writes_are_retried_once_the_disk_recovers() {
    let directory = TempDirectory::new();
    let options = LocalClusterOptions {
        data_dir: Some(directory.0.clone()),
        ..LocalClusterOptions::default()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    let store = &cluster.cluster.store;
    let pods: Api<Pod> = Api::default_namespaced(cluster.client());
    let refused = async || {
        let before = store.failures();
        let log = store.swap_log(std::fs::File::open("/dev/null").unwrap());
        until("a write is refused", async || store.failures() > before).await;
        store.swap_log(log);
    };
    let pod = json!({"metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pod = serde_json::from_value(pod).unwrap();
    pods.create(&PostParams::default(), &pod).await.unwrap();
    refused().await;
    until("the pod runs", async || {
        let status = pods.get("p").await.unwrap().status.unwrap();
        status.phase.as_deref() == Some("Running")
    })
    .await;
    pods.delete("p", &DeleteParams::default()).await.unwrap();
    refused().await;
    until("the pod ends", async || {
        pods.get_opt("p").await.unwrap().is_none()
    })
    .await;
}
