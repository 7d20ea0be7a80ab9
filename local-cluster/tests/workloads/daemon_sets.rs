//! DaemonSets.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{cluster, quick};

fn node(name: &str, ready: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"disk": "ssd"}},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn nodes(pods: &[Value]) -> Vec<String> {
    let mut nodes: Vec<String> = pods
        .iter()
        .map(|pod| {
            pod["spec"]["nodeName"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    nodes.sort();
    nodes
}

#[tokio::test]
async fn each_node_runs_a_pod() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/agent", apps("daemonsets"));
    create(&cluster, &apps("daemonsets"), workload("agent", json!({}))).await;
    let done = until(&cluster, &path, |d| d["status"]["numberAvailable"] == 2).await;
    assert_eq!(done["status"]["desiredNumberScheduled"], 2);
    assert_eq!(done["status"]["updatedNumberScheduled"], 2);
    assert_eq!(nodes(&pods(&cluster, "agent").await), ["node-1", "node-2"]);
    // A new node counts once it is ready.
    create(&cluster, NODES, node("node-3", "False")).await;
    patch(
        &cluster,
        &format!("{NODES}/node-3/status"),
        node("node-3", "True"),
    )
    .await;
    until(&cluster, &path, |d| d["status"]["numberReady"] == 3).await;
    // Cordoned nodes keep their pod, and get a new one if it is deleted.
    patch(
        &cluster,
        &format!("{NODES}/node-1"),
        json!({"spec": {"unschedulable": true}}),
    )
    .await;
    let before = pods(&cluster, "agent").await;
    let first = before
        .iter()
        .find(|p| p["spec"]["nodeName"] == "node-1")
        .unwrap();
    let first = first["metadata"]["name"].as_str().unwrap();
    call(&cluster, "DELETE", &format!("{PODS}/{first}"), None).await;
    until_pods(&cluster, "agent", |pods| {
        pods.len() == 3 && !names(pods).contains(&first) && pods.iter().all(is_ready)
    })
    .await;
    call(&cluster, "DELETE", &format!("{NODES}/node-3"), None).await;
    let left = until_pods(&cluster, "agent", |pods| pods.len() == 2).await;
    assert_eq!(nodes(&left), ["node-1", "node-2"]);
    // Nodes that are not selected run no pod.
    let selective = json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}});
    patch(&cluster, &path, selective).await;
    until(&cluster, &path, |d| {
        d["status"]["desiredNumberScheduled"] == 0
    })
    .await;
    until_pods(&cluster, "agent", |pods| pods.is_empty()).await;
}

#[tokio::test]
async fn a_new_template_replaces_pods_one_by_one() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/agent", apps("daemonsets"));
    create(&cluster, &apps("daemonsets"), workload("agent", json!({}))).await;
    until(&cluster, &path, |d| d["status"]["numberAvailable"] == 2).await;
    let mut stuck = image("i:2");
    stuck["spec"]["template"]["metadata"]["annotations"] =
        json!({local_cluster::annotations::READY: "false"});
    patch(&cluster, &path, stuck).await;
    let half = until(&cluster, &path, |d| {
        d["status"]["updatedNumberScheduled"] == 1
    })
    .await;
    assert_eq!(half["status"]["observedGeneration"], 2);
    until(&cluster, &path, |d| d["status"]["numberUnavailable"] == 1).await;
    let mut well = image("i:3");
    well["spec"]["template"]["metadata"]["annotations"] = Value::Null;
    patch(&cluster, &path, well).await;
    until(&cluster, &path, |d| {
        d["status"]["updatedNumberScheduled"] == 2 && d["status"]["numberAvailable"] == 2
    })
    .await;
}
