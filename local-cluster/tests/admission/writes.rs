//! Reviews and concurrent writes: nothing is lost, and nothing is reviewed twice.

use std::sync::Arc;
use std::time::Duration;

use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, eventually, quick, widget};
use crate::webhook::{WebhookCall, Webhooks, install};

fn names(calls: &[WebhookCall], pointer: &str) -> Vec<String> {
    calls.iter().map(|c| c.at(pointer).to_owned()).collect()
}

/// Starts a request in the background.
fn begin(
    cluster: &Arc<LocalCluster>,
    method: &'static str,
    path: String,
    body: Value,
) -> tokio::task::JoinHandle<(u16, Value)> {
    let cluster = Arc::clone(cluster);
    tokio::spawn(async move {
        let (status, body) = call(&cluster, method, &path, Some(body)).await;
        (status.as_u16(), body)
    })
}

/// Waits until the kubelet no longer changes the pod.
async fn until_running(cluster: &LocalCluster, pod: &str) {
    eventually("the pod runs", || async {
        let (_, pod) = call(cluster, "GET", pod, None).await;
        (pod["status"]["phase"] == "Running").then_some(())
    })
    .await;
}

async fn until_called(webhooks: &Webhooks, count: usize) {
    eventually("the webhook is called", || async {
        (webhooks.calls().len() >= count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_write_is_retried_if_the_object_changed_during_its_review() {
    let cluster = Arc::new(cluster(quick()).await);
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let (_, created) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    webhooks.mutate(&cluster, "/gated-m", json!({})).await;
    webhooks.validate(&cluster, "/gated-v", json!({})).await;
    let one = format!("{WIDGETS}/a");
    let status = |n: u64| json!({"status": {"n": n}});
    let status_path = format!("{one}/status");

    let patch = begin(&cluster, "PATCH", one.clone(), json!({"spec": {"size": 2}}));
    until_called(&webhooks, 1).await;
    webhooks.open_gate(1);
    until_called(&webhooks, 2).await;
    // A review does not block other writes.
    assert_eq!(
        call(&cluster, "PATCH", &status_path, Some(status(1)))
            .await
            .0,
        200
    );
    webhooks.open_gate(3);
    let (code, patched) = patch.await.unwrap();
    assert_eq!((code, &patched["spec"]["size"]), (200, &json!(2)));
    assert_eq!(patched["status"]["n"], 1);
    let calls = webhooks.take();
    assert_eq!(
        names(&calls, "/oldObject/metadata/resourceVersion").len(),
        4
    );
    assert_eq!(calls[1].request["oldObject"]["status"], Value::Null);
    assert_eq!(calls[3].request["oldObject"]["status"]["n"], 1);

    // A write with a resourceVersion fails with a conflict.
    let mut next = created;
    next["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].clone();
    next["spec"]["size"] = json!(3);
    let put = begin(&cluster, "PUT", one.clone(), next);
    until_called(&webhooks, 1).await;
    assert_eq!(
        call(&cluster, "PATCH", &status_path, Some(status(2)))
            .await
            .0,
        200
    );
    webhooks.open_gate(10);
    let (code, rejected) = put.await.unwrap();
    assert_eq!((code, &rejected["reason"]), (409, &json!("Conflict")));
}

#[tokio::test]
async fn validating_webhooks_are_called_concurrently() {
    let cluster = Arc::new(cluster(quick()).await);
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let hooks = ["a", "b", "c"].map(|name| {
        let (name, path) = (format!("{name}.x.y"), format!("/gated-{name}"));
        webhooks.webhook(&name, &path, json!({}))
    });
    install(&cluster, "Validating", "v", &hooks).await;
    let create = begin(&cluster, "POST", WIDGETS.to_owned(), widget("a"));
    // None waits for the response of another.
    until_called(&webhooks, 3).await;
    webhooks.open_gate(3);
    assert_eq!(create.await.unwrap().0, 201);
}

#[tokio::test]
async fn an_object_deleted_during_its_review_is_not_found() {
    let cluster = Arc::new(cluster(quick()).await);
    let webhooks = Webhooks::start(|call| call.allow()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let rule = json!({
        "operations": ["UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["widgets"],
    });
    webhooks
        .validate(&cluster, "/gated", json!({"rules": [rule]}))
        .await;
    let one = format!("{WIDGETS}/a");
    let patch = begin(&cluster, "PATCH", one.clone(), json!({"spec": {"size": 2}}));
    until_called(&webhooks, 1).await;
    assert_eq!(call(&cluster, "DELETE", &one, None).await.0, 200);
    webhooks.open_gate(1);
    assert_eq!(patch.await.unwrap().0, 404);
}

#[tokio::test]
async fn a_deletion_is_reviewed_once_however_long_it_takes() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let rule = json!({
        "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["widgets", "pods"],
    });
    webhooks
        .validate(&cluster, "/v", json!({"rules": [rule]}))
        .await;
    let mut held = widget("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    call(&cluster, "POST", WIDGETS, Some(held)).await;
    let one = format!("{WIDGETS}/a");
    assert_eq!(call(&cluster, "DELETE", &one, None).await.0, 200);
    let release = json!({"metadata": {"finalizers": null}});
    assert_eq!(call(&cluster, "PATCH", &one, Some(release)).await.0, 200);
    assert_eq!(call(&cluster, "GET", &one, None).await.0, 404);
    let operations = names(&webhooks.take(), "/operation");
    assert_eq!(operations, ["CREATE", "DELETE", "UPDATE"]);

    // A pod is deleted in two steps; the second is that of its kubelet, which is not reviewed.
    let pods = "/api/v1/namespaces/default/pods";
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    call(&cluster, "POST", pods, Some(pod)).await;
    let path = format!("{pods}/p");
    until_running(&cluster, &path).await;
    assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    eventually("the pod is gone", || async {
        let (status, _) = call(&cluster, "GET", &path, None).await;
        (status == 404).then_some(())
    })
    .await;
    assert_eq!(names(&webhooks.calls(), "/operation"), ["CREATE", "DELETE"]);
}

#[tokio::test]
async fn a_running_grace_period_is_reviewed_only_when_shortened() {
    let cluster = cluster(LocalClusterOptions {
        pod_termination_delay: Duration::from_secs(3600),
        ..quick()
    })
    .await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let rule = json!({
        "operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["pods"],
    });
    webhooks
        .validate(&cluster, "/v", json!({"rules": [rule]}))
        .await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    call(&cluster, "POST", pods, Some(pod)).await;
    let path = format!("{pods}/p");
    until_running(&cluster, &path).await;
    for (grace, calls) in [(30, 1), (30, 1), (20, 2), (0, 3)] {
        let path = format!("{path}?gracePeriodSeconds={grace}");
        assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
        assert_eq!(webhooks.calls().len(), calls, "{grace}");
    }
    assert_eq!(call(&cluster, "GET", &path, None).await.0, 404);
}

#[tokio::test]
async fn a_delete_collection_is_reviewed_for_each_object_without_name() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/oldObject/metadata/name") {
        "b" => call.deny(json!({"message": "stay", "code": 403})),
        _ => call.allow(),
    })
    .await;
    for name in ["a", "b", "c"] {
        call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
    }
    webhooks.validate(&cluster, "/v", json!({})).await;
    let (status, body) = call(&cluster, "DELETE", WIDGETS, None).await;
    assert_eq!(status, 403, "{body}");
    let calls = webhooks.calls();
    assert_eq!(names(&calls, "/oldObject/metadata/name"), ["a", "b"]);
    assert!(calls.iter().all(|call| call.request.get("name").is_none()));
    let (_, left) = call(&cluster, "GET", WIDGETS, None).await;
    let left: Vec<&str> = left["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["b", "c"]);
}

#[tokio::test]
async fn controllers_are_not_reviewed() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/oldObject/metadata/name") {
        "child" => call.deny(json!({})),
        _ => call.allow(),
    })
    .await;
    let (_, owner) = call(&cluster, "POST", WIDGETS, Some(widget("owner"))).await;
    let mut child = widget("child");
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "example.com/v1", "kind": "Widget",
        "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    call(&cluster, "POST", WIDGETS, Some(child)).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let one = format!("{WIDGETS}/child");
    assert_eq!(call(&cluster, "DELETE", &one, None).await.0, 400);
    let path = format!("{WIDGETS}/owner");
    assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    eventually("the child is collected", || async {
        let (status, _) = call(&cluster, "GET", &one, None).await;
        (status == 404).then_some(())
    })
    .await;
    assert_eq!(webhooks.calls().len(), 2);
}

#[tokio::test]
async fn objects_that_cannot_be_created_are_not_reviewed() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let nowhere = "/apis/example.com/v1/namespaces/nowhere/widgets";
    let (status, body) = call(&cluster, "POST", nowhere, Some(widget("a"))).await;
    assert_eq!(status, 404);
    assert_eq!(body["message"], "namespaces \"nowhere\" not found");
    let mut bad = widget("a");
    bad["spec"]["colour"] = json!("green");
    assert_eq!(call(&cluster, "POST", WIDGETS, Some(bad)).await.0, 422);
    assert!(webhooks.calls().is_empty());
    // Whether the name is free is checked after the review.
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(
        call(&cluster, "POST", WIDGETS, Some(widget("a"))).await.0,
        409
    );
    assert_eq!(webhooks.calls().len(), 2);
}

#[tokio::test]
async fn services_under_review_do_not_get_the_same_address() {
    let cluster = Arc::new(cluster(quick()).await);
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let rule = json!({
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["services"],
    });
    webhooks
        .validate(&cluster, "/gated", json!({"rules": [rule]}))
        .await;
    let services = "/api/v1/namespaces/default/services";
    let begin = |name: &str| {
        let body = json!({
            "metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        });
        begin(&cluster, "POST", services.to_owned(), body)
    };
    let (a, b) = (begin("a"), begin("b"));
    until_called(&webhooks, 2).await;
    // Both reviews contained the same address, so one service is reviewed again with another.
    webhooks.open_gate(3);
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    assert_eq!((a.0, b.0), (201, 201));
    assert_ne!(a.1["spec"]["clusterIP"], b.1["spec"]["clusterIP"]);
    assert_eq!(webhooks.calls().len(), 3);
    let shown = names(&webhooks.take(), "/object/spec/clusterIP");
    assert_eq!(shown[0], shown[1]);
    assert_ne!(shown[1], shown[2]);
    // A service that asks for an address in use is rejected without review.
    let body = json!({
        "metadata": {"name": "c"},
        "spec": {"clusterIP": a.1["spec"]["clusterIP"], "ports": [{"port": 80}]},
    });
    assert_eq!(call(&cluster, "POST", services, Some(body)).await.0, 422);
    assert_eq!(webhooks.calls().len(), 0);
}

#[tokio::test]
async fn a_request_counts_once_with_any_number_of_reviews() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let before = cluster.requests();
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let since = cluster.requests().since(&before);
    assert_eq!((since.writes(), since.count(|_| true)), (1, 1));
}
