//! StatefulSets.

use local_cluster::annotations;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{cluster, quick};

fn path() -> String {
    format!("{}/web", apps("statefulsets"))
}

fn images(pods: &[Value]) -> Vec<&Value> {
    pods.iter()
        .map(|pod| &pod["spec"]["containers"][0]["image"])
        .collect()
}

#[tokio::test]
async fn pods_have_stable_names() {
    let cluster = cluster(quick()).await;
    let spec = json!({"replicas": 3, "serviceName": "all"});
    create(&cluster, &apps("statefulsets"), workload("web", spec)).await;
    let done = until(&cluster, &path(), |s| s["status"]["availableReplicas"] == 3).await;
    let status = &done["status"];
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    assert_eq!(
        [&status["currentReplicas"], &status["updatedReplicas"]],
        [3, 3]
    );
    let first = pods(&cluster, "web").await;
    assert_eq!(names(&first), ["web-0", "web-1", "web-2"]);
    let labels = &first[1]["metadata"]["labels"];
    assert_eq!(labels["statefulset.kubernetes.io/pod-name"], "web-1");
    assert_eq!(labels["apps.kubernetes.io/pod-index"], "1");
    assert_eq!(labels["controller-revision-hash"], status["updateRevision"]);
    assert_eq!(
        [
            &first[1]["spec"]["hostname"],
            &first[1]["spec"]["subdomain"]
        ],
        ["web-1", "all"]
    );
    call(&cluster, "DELETE", &format!("{PODS}/web-1"), None).await;
    let uid = first[1]["metadata"]["uid"].clone();
    until(&cluster, &format!("{PODS}/web-1"), |p| {
        p["metadata"]["uid"] != uid && is_ready(p)
    })
    .await;
    patch(&cluster, &path(), json!({"spec": {"replicas": 1}})).await;
    let left = until_pods(&cluster, "web", |pods| pods.len() == 1).await;
    assert_eq!(names(&left), ["web-0"]);
    call(&cluster, "DELETE", &path(), None).await;
    until_pods(&cluster, "web", |pods| pods.is_empty()).await;
}

#[tokio::test]
async fn each_pod_waits_for_the_previous_one() {
    let cluster = cluster(quick()).await;
    let mut held = workload("web", json!({"replicas": 2}));
    held["spec"]["template"]["metadata"]["annotations"] = json!({annotations::READY: "false"});
    create(&cluster, &apps("statefulsets"), held.clone()).await;
    until(&cluster, &format!("{PODS}/web-0"), |p| {
        p["status"]["phase"] == "Running"
    })
    .await;
    held["metadata"]["name"] = json!("par");
    held["spec"]["podManagementPolicy"] = json!("Parallel");
    held["spec"]["selector"] = json!({"matchLabels": {"app": "par"}});
    held["spec"]["template"]["metadata"]["labels"] = json!({"app": "par"});
    create(&cluster, &apps("statefulsets"), held).await;
    until_pods(&cluster, "par", |pods| pods.len() == 2).await;
    assert_eq!(pods(&cluster, "web").await.len(), 1);
    patch(
        &cluster,
        &format!("{PODS}/web-0"),
        json!({"metadata": {"annotations": null}}),
    )
    .await;
    until_pods(&cluster, "web", |pods| pods.len() == 2).await;
}

#[tokio::test]
async fn pods_below_the_partition_keep_their_revision() {
    let cluster = cluster(quick()).await;
    create(
        &cluster,
        &apps("statefulsets"),
        workload("web", json!({"replicas": 3})),
    )
    .await;
    until(&cluster, &path(), |s| s["status"]["readyReplicas"] == 3).await;
    let mut next = image("i:2");
    next["spec"]["updateStrategy"] = json!({"rollingUpdate": {"partition": 2}});
    patch(&cluster, &path(), next).await;
    let half = until(&cluster, &path(), |s| {
        s["status"]["updatedReplicas"] == 1 && s["status"]["readyReplicas"] == 3
    })
    .await;
    assert_ne!(
        half["status"]["currentRevision"],
        half["status"]["updateRevision"]
    );
    assert_eq!(half["status"]["currentReplicas"], 2);
    assert_eq!(images(&pods(&cluster, "web").await), ["i:1", "i:1", "i:2"]);
    let all = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    patch(&cluster, &path(), all).await;
    let done = until(&cluster, &path(), |s| {
        s["status"]["updatedReplicas"] == 3 && s["status"]["readyReplicas"] == 3
    })
    .await;
    assert_eq!(
        done["status"]["currentRevision"],
        done["status"]["updateRevision"]
    );
    // The revision of a template is the same after a rollback to it.
    patch(&cluster, &path(), image("i:1")).await;
    let back = until(&cluster, &path(), |s| {
        s["status"]["observedGeneration"] == 4
            && s["status"]["updatedReplicas"] == 3
            && s["status"]["readyReplicas"] == 3
    })
    .await;
    assert_eq!(
        back["status"]["updateRevision"],
        half["status"]["currentRevision"]
    );
}

#[tokio::test]
async fn on_delete_updates_pods_that_a_client_deletes() {
    let cluster = cluster(quick()).await;
    let spec = json!({"replicas": 2, "updateStrategy": {"type": "OnDelete"}});
    create(&cluster, &apps("statefulsets"), workload("web", spec)).await;
    until(&cluster, &path(), |s| s["status"]["readyReplicas"] == 2).await;
    patch(&cluster, &path(), image("i:2")).await;
    until(&cluster, &path(), |s| {
        s["status"]["observedGeneration"] == 2
    })
    .await;
    call(
        &cluster,
        "DELETE",
        &format!("{PODS}/web-0?gracePeriodSeconds=0"),
        None,
    )
    .await;
    until(&cluster, &path(), |s| {
        s["status"]["updatedReplicas"] == 1 && s["status"]["readyReplicas"] == 2
    })
    .await;
    assert_eq!(images(&pods(&cluster, "web").await), ["i:2", "i:1"]);
}
