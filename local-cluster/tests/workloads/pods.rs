//! Scheduler and kubelet.

use local_cluster::annotations;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{cluster, quick};

fn pod(name: &str, spec: Value) -> Value {
    let mut body = json!({"metadata": {"name": name, "labels": {"app": "p"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    json_patch::merge(&mut body["spec"], &spec);
    body
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

#[tokio::test]
async fn a_readiness_gate_keeps_a_pod_unready() {
    let cluster = cluster(quick()).await;
    let gate = json!({"readinessGates": [{"conditionType": "example.com/lb"}]});
    create(&cluster, PODS, pod("p", gate)).await;
    let waiting = until(&cluster, &at("p"), |p| p["status"]["phase"] == "Running").await;
    assert_eq!(
        condition(&waiting, "Ready")["reason"],
        "ReadinessGatesNotReady"
    );
    assert_eq!(condition(&waiting, "ContainersReady")["status"], "True");
    for status in ["True", "False", "True"] {
        let conditions =
            json!({"status": {"conditions": [{"type": "example.com/lb", "status": status}]}});
        let (code, _) = crate::fixture::raw(
            &cluster,
            "PATCH",
            &format!("{}/status", at("p")),
            "application/strategic-merge-patch+json",
            conditions.to_string().into_bytes(),
        )
        .await;
        assert_eq!(code, 200);
        until(&cluster, &at("p"), |p| {
            condition(p, "Ready")["status"] == status
        })
        .await;
    }
}

#[tokio::test]
async fn an_annotation_makes_a_pod_unready() {
    let cluster = cluster(quick()).await;
    create(&cluster, PODS, pod("p", json!({}))).await;
    until(&cluster, &at("p"), is_ready).await;
    for (value, ready) in [(json!("false"), false), (Value::Null, true)] {
        let change = json!({"metadata": {"annotations": {annotations::READY: value}}});
        patch(&cluster, &at("p"), change).await;
        let now = until(&cluster, &at("p"), |p| is_ready(p) == ready).await;
        assert_eq!(now["status"]["containerStatuses"][0]["ready"], ready);
    }
}

#[tokio::test]
async fn an_unschedulable_pod_has_the_reason() {
    let cluster = cluster(quick()).await;
    patch(
        &cluster,
        &format!("{NODES}/node-1"),
        json!({"spec": {"unschedulable": true}}),
    )
    .await;
    let picky = json!({"nodeSelector": {"disk": "ssd"}});
    create(&cluster, PODS, pod("p", picky)).await;
    let stuck = until(&cluster, &at("p"), |p| {
        condition(p, "PodScheduled")["status"] == "False"
    })
    .await;
    assert_eq!(stuck["status"]["phase"], "Pending");
    let scheduled = condition(&stuck, "PodScheduled");
    assert_eq!(scheduled["reason"], "Unschedulable");
    assert_eq!(
        scheduled["message"],
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
    create(&cluster, PODS, pod("q", json!({}))).await;
    assert_eq!(
        until(&cluster, &at("q"), is_ready).await["spec"]["nodeName"],
        "node-2"
    );
    let ssd = json!({"metadata": {"labels": {"disk": "ssd"}}, "spec": {"unschedulable": null}});
    patch(&cluster, &format!("{NODES}/node-1"), ssd).await;
    let placed = until(&cluster, &at("p"), is_ready).await;
    assert_eq!(placed["spec"]["nodeName"], "node-1");
    assert_eq!(condition(&placed, "PodScheduled")["status"], "True");
}

#[tokio::test]
async fn pods_are_bound_to_the_node_with_the_fewest() {
    let cluster = cluster(quick()).await;
    for name in ["a", "b", "c"] {
        create(&cluster, PODS, pod(name, json!({"nodeName": "node-1"}))).await;
        until(&cluster, &at(name), is_ready).await;
    }
    for name in ["d", "e", "f"] {
        create(&cluster, PODS, pod(name, json!({}))).await;
        assert_eq!(
            until(&cluster, &at(name), is_ready).await["spec"]["nodeName"],
            "node-2"
        );
    }
}

#[tokio::test]
async fn pods_follow_the_state_of_their_node() {
    let cluster = cluster(quick()).await;
    let node =
        |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
    let one = format!("{NODES}/node-1/status");
    create(&cluster, PODS, pod("p", json!({"nodeName": "node-1"}))).await;
    until(&cluster, &at("p"), is_ready).await;
    patch(&cluster, &one, node("Unknown")).await;
    until(&cluster, &at("p"), |p| {
        condition(p, "Ready")["status"] == "False"
    })
    .await;
    // The node cannot report that its containers have ended.
    create(&cluster, PODS, pod("late", json!({"nodeName": "node-1"}))).await;
    call(&cluster, "DELETE", &at("p"), None).await;
    patch(&cluster, &one, node("True")).await;
    until(&cluster, &at("late"), is_ready).await;
    eventually("the pod ends when its node is back", || async {
        get(&cluster, &at("p")).await.is_none().then_some(())
    })
    .await;
    call(&cluster, "DELETE", &format!("{NODES}/node-1"), None).await;
    eventually("pods go with their node", || async {
        get(&cluster, &at("late")).await.is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_pod_of_another_scheduler_is_not_bound() {
    let cluster = cluster(quick()).await;
    create(&cluster, PODS, pod("p", json!({"schedulerName": "mine"}))).await;
    create(
        &cluster,
        PODS,
        pod(
            "gated",
            json!({"schedulingGates": [{"name": "example.com/quota"}]}),
        ),
    )
    .await;
    let gated = until(&cluster, &at("gated"), |p| {
        condition(p, "PodScheduled").is_object()
    })
    .await;
    assert_eq!(
        condition(&gated, "PodScheduled")["reason"],
        "SchedulingGated"
    );
    create(&cluster, PODS, pod("q", json!({}))).await;
    until(&cluster, &at("q"), is_ready).await;
    let left = get(&cluster, &at("p")).await.unwrap();
    assert_eq!(left["spec"].get("nodeName"), None);
    patch(
        &cluster,
        &at("gated"),
        json!({"spec": {"schedulingGates": null}}),
    )
    .await;
    until(&cluster, &at("gated"), is_ready).await;
}
