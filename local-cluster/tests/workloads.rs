//! Workload controllers.

mod daemon_sets;
mod deployments;
mod pods;
mod stateful_sets;

use local_cluster::LocalCluster;
use serde_json::{Value, json};

use crate::fixture::{call, eventually};

pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const NODES: &str = "/api/v1/nodes";

pub(crate) fn apps(plural: &str) -> String {
    format!("/apis/apps/v1/namespaces/default/{plural}")
}

/// A pod template, and the selector that finds its pods.
pub(crate) fn workload(name: &str, spec: Value) -> Value {
    let mut body = json!({
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "i:1"}]},
            },
        },
    });
    json_patch::merge(&mut body["spec"], &spec);
    body
}

pub(crate) fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

pub(crate) async fn create(cluster: &LocalCluster, path: &str, body: Value) -> Value {
    let (status, created) = call(cluster, "POST", path, Some(body)).await;
    assert_eq!(status, 201, "{created}");
    created
}

pub(crate) async fn patch(cluster: &LocalCluster, path: &str, body: Value) -> Value {
    let (status, patched) = call(cluster, "PATCH", path, Some(body)).await;
    assert_eq!(status, 200, "{patched}");
    patched
}

pub(crate) async fn get(cluster: &LocalCluster, path: &str) -> Option<Value> {
    let (status, body) = call(cluster, "GET", path, None).await;
    (status == 200).then_some(body)
}

pub(crate) async fn list(cluster: &LocalCluster, path: &str) -> Vec<Value> {
    let (status, list) = call(cluster, "GET", path, None).await;
    assert_eq!(status, 200, "{list}");
    list["items"].as_array().unwrap().clone()
}

pub(crate) async fn pods(cluster: &LocalCluster, app: &str) -> Vec<Value> {
    list(cluster, &format!("{PODS}?labelSelector=app%3D{app}")).await
}

/// Waits until an object satisfies the condition.
pub(crate) async fn until(
    cluster: &LocalCluster,
    path: &str,
    condition: impl Fn(&Value) -> bool,
) -> Value {
    let mut last = Value::Null;
    let found = async {
        loop {
            if let Some(object) = get(cluster, path).await {
                if condition(&object) {
                    return object;
                }
                last = object;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    match tokio::time::timeout(crate::fixture::DEADLINE, found).await {
        Ok(object) => object,
        Err(_) => panic!("{path} does not satisfy the condition: {last:#}"),
    }
}

/// Waits until the pods of a workload satisfy the condition.
pub(crate) async fn until_pods(
    cluster: &LocalCluster,
    app: &str,
    condition: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    eventually(&format!("pods of {app}"), || async {
        let pods = pods(cluster, app).await;
        condition(&pods).then_some(pods)
    })
    .await
}

pub(crate) fn names(objects: &[Value]) -> Vec<&str> {
    objects
        .iter()
        .map(|object| object["metadata"]["name"].as_str().unwrap())
        .collect()
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions
        .find(|c| c["type"] == kind)
        .unwrap_or(&Value::Null)
}

pub(crate) fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready")["status"] == "True"
}

#[tokio::test]
async fn a_cluster_at_rest_writes_nothing() {
    let cluster = crate::fixture::cluster(crate::fixture::quick()).await;
    for plural in ["deployments", "statefulsets", "daemonsets"] {
        create(&cluster, &apps(plural), workload(plural, json!({}))).await;
    }
    let services = "/api/v1/namespaces/default/services";
    let service = json!({"metadata": {"name": "web"},
        "spec": {"selector": {"app": "deployments"}, "ports": [{"port": 80}]}});
    create(&cluster, services, service).await;
    let huge =
        json!({"nodeSelector": {"no": "where"}, "containers": [{"name": "c", "image": "i"}]});
    create(
        &cluster,
        PODS,
        json!({"metadata": {"name": "stuck"}, "spec": huge}),
    )
    .await;
    for plural in ["deployments", "statefulsets"] {
        let path = format!("{}/{plural}", apps(plural));
        until(&cluster, &path, |w| w["status"]["availableReplicas"] == 1).await;
    }
    // Between the test's two writes nothing else was written, though there was time.
    let maps = "/api/v1/namespaces/default/configmaps";
    let write = async || {
        let body = json!({"metadata": {"generateName": "m-"}});
        let map = create(&cluster, maps, body).await;
        let version = map["metadata"]["resourceVersion"].as_str().unwrap();
        version.parse::<u64>().unwrap()
    };
    eventually("quiet", async || {
        let before = write().await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        (write().await == before + 1).then_some(())
    })
    .await;
}
