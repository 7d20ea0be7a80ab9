//! EndpointSlices follow services and pods.

mod rules;

use local_cluster::{LocalCluster, annotations};
use serde_json::{Value, json};

use crate::fixture::{call, cluster, eventually, quick};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const PODS: &str = "/api/v1/namespaces/default/pods";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn service(name: &str, spec: Value) -> Value {
    let mut body = json!({
        "metadata": {"name": name, "labels": {"team": "a"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
    });
    json_patch::merge(&mut body["spec"], &spec);
    body
}

fn pod(name: &str, app: &str, port: u16) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": port}]}]},
    })
}

async fn create(cluster: &LocalCluster, path: &str, body: Value) -> Value {
    let (status, created) = call(cluster, "POST", path, Some(body)).await;
    assert_eq!(status, 201, "{created}");
    created
}

async fn patch(cluster: &LocalCluster, path: &str, body: Value) {
    let (status, patched) = call(cluster, "PATCH", path, Some(body)).await;
    assert_eq!(status, 200, "{patched}");
}

async fn slices(cluster: &LocalCluster, service: &str) -> Vec<Value> {
    let path = format!("{SLICES}?labelSelector=kubernetes.io/service-name%3D{service}");
    let (status, list) = call(cluster, "GET", &path, None).await;
    assert_eq!(status, 200);
    list["items"].as_array().unwrap().clone()
}

/// Port, pod and readiness of all endpoints of a service.
async fn endpoints(cluster: &LocalCluster, service: &str) -> Vec<(u64, String, bool)> {
    let mut found = Vec::new();
    for slice in slices(cluster, service).await {
        let port = slice["ports"][0]["port"].as_u64().unwrap_or(0);
        for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
            let pod = endpoint["targetRef"]["name"].as_str().unwrap().to_owned();
            found.push((port, pod, endpoint["conditions"]["ready"] == true));
        }
    }
    found.sort();
    found
}

async fn until_endpoints(cluster: &LocalCluster, service: &str, expected: &[(u64, &str, bool)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(p, n, r)| (*p, (*n).to_owned(), *r))
        .collect();
    eventually(&format!("{service} has {expected:?}"), || async {
        (endpoints(cluster, service).await == expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_service_has_the_pods_that_it_selects() {
    let cluster = cluster(quick()).await;
    let made = create(&cluster, SERVICES, service("web", json!({}))).await;
    // A slice exists before the first pod.
    let slice = eventually("a slice", || async { slices(&cluster, "web").await.pop() }).await;
    assert_eq!(slice["endpoints"], Value::Null);
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(slice["metadata"]["generateName"], "web-");
    assert_eq!(slice["metadata"]["labels"]["team"], "a");
    assert_eq!(
        slice["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"],
        "endpointslice-controller.k8s.io"
    );
    let owner = &slice["metadata"]["ownerReferences"][0];
    assert_eq!(owner["uid"], made["metadata"]["uid"]);
    for (name, app, port) in [
        ("a", "web", 8080),
        ("b", "web", 8080),
        ("c", "web", 9090),
        ("d", "db", 8080),
    ] {
        create(&cluster, PODS, pod(name, app, port)).await;
    }
    until_endpoints(
        &cluster,
        "web",
        &[(8080, "a", true), (8080, "b", true), (9090, "c", true)],
    )
    .await;
    let first = slices(&cluster, "web").await;
    assert!(
        first
            .iter()
            .any(|s| s["metadata"]["name"] == slice["metadata"]["name"])
    );
    let endpoint = &first
        .iter()
        .find(|s| s["ports"][0]["port"] == 9090)
        .unwrap()["endpoints"][0];
    assert!(endpoint["nodeName"].as_str().unwrap().starts_with("node-"));
    assert!(
        endpoint["addresses"][0]
            .as_str()
            .unwrap()
            .starts_with("10.244.")
    );
    // Labels that change, in both directions.
    patch(
        &cluster,
        &format!("{PODS}/a"),
        json!({"metadata": {"labels": {"app": "db"}}}),
    )
    .await;
    patch(
        &cluster,
        &format!("{PODS}/d"),
        json!({"metadata": {"labels": {"app": "web"}}}),
    )
    .await;
    until_endpoints(
        &cluster,
        "web",
        &[(8080, "b", true), (8080, "d", true), (9090, "c", true)],
    )
    .await;
    patch(
        &cluster,
        &format!("{SERVICES}/web"),
        json!({"spec": {"selector": {"app": "db"}}}),
    )
    .await;
    until_endpoints(&cluster, "web", &[(8080, "a", true)]).await;
    call(&cluster, "DELETE", &format!("{SERVICES}/web"), None).await;
    eventually("the slices go with it", || async {
        slices(&cluster, "web").await.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn endpoints_follow_readiness() {
    let cluster = cluster(quick()).await;
    create(&cluster, SERVICES, service("web", json!({}))).await;
    let all = json!({"clusterIP": "None", "publishNotReadyAddresses": true});
    create(&cluster, SERVICES, service("peers", all)).await;
    create(&cluster, PODS, pod("a", "web", 1)).await;
    until_endpoints(&cluster, "web", &[(1, "a", true)]).await;
    let hold = json!({"metadata": {"annotations": {annotations::READY: "false"}}});
    patch(&cluster, &format!("{PODS}/a"), hold).await;
    until_endpoints(&cluster, "web", &[(1, "a", false)]).await;
    until_endpoints(&cluster, "peers", &[(1, "a", true)]).await;
    let headless = slices(&cluster, "peers").await;
    assert_eq!(
        headless[0]["metadata"]["labels"]["service.kubernetes.io/headless"],
        ""
    );
    call(&cluster, "DELETE", &format!("{PODS}/a"), None).await;
    until_endpoints(&cluster, "web", &[]).await;
    let slice = slices(&cluster, "web").await;
    assert_eq!((slice.len(), &slice[0]["endpoints"]), (1, &Value::Null));
}

#[tokio::test]
async fn a_terminating_pod_serves_until_it_is_removed() {
    let cluster = cluster(local_cluster::LocalClusterOptions {
        pod_termination_delay: std::time::Duration::from_secs(3600),
        ..quick()
    })
    .await;
    create(&cluster, SERVICES, service("web", json!({}))).await;
    create(&cluster, PODS, pod("a", "web", 1)).await;
    until_endpoints(&cluster, "web", &[(1, "a", true)]).await;
    call(&cluster, "DELETE", &format!("{PODS}/a"), None).await;
    let conditions = eventually("the endpoint terminates", || async {
        let slices = slices(&cluster, "web").await;
        let conditions = slices.first()?["endpoints"][0]["conditions"].clone();
        (conditions["terminating"] == true).then_some(conditions)
    })
    .await;
    assert_eq!(
        conditions,
        json!({"ready": false, "serving": true, "terminating": true})
    );
}

#[tokio::test]
async fn slices_of_other_managers_are_not_changed() {
    let cluster = cluster(quick()).await;
    let manual = json!({"selector": null});
    create(&cluster, SERVICES, service("manual", manual)).await;
    let slice = json!({
        "metadata": {"name": "mine", "labels": {"kubernetes.io/service-name": "manual"}},
        "addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.9"]}],
    });
    create(&cluster, SLICES, slice).await;
    create(&cluster, SERVICES, service("web", json!({}))).await;
    let made = eventually("a slice", || async { slices(&cluster, "web").await.pop() }).await;
    // A slice that a client deletes or changes is restored.
    let path = format!("{SLICES}/{}", made["metadata"]["name"].as_str().unwrap());
    create(&cluster, PODS, pod("a", "web", 1)).await;
    until_endpoints(&cluster, "web", &[(1, "a", true)]).await;
    patch(&cluster, &path, json!({"endpoints": []})).await;
    until_endpoints(&cluster, "web", &[(1, "a", true)]).await;
    call(&cluster, "DELETE", &path, None).await;
    until_endpoints(&cluster, "web", &[(1, "a", true)]).await;
    let manual = slices(&cluster, "manual").await;
    assert_eq!(manual.len(), 1);
    assert_eq!(manual[0]["endpoints"][0]["addresses"][0], "192.0.2.9");
}

#[tokio::test]
async fn many_pods_fill_slices() {
    let cluster = cluster(quick()).await;
    create(&cluster, SERVICES, service("web", json!({}))).await;
    for number in 0..150 {
        create(&cluster, PODS, pod(&format!("p{number}"), "web", 1)).await;
    }
    eventually("all are endpoints", || async {
        let found = endpoints(&cluster, "web").await;
        (found.iter().filter(|(_, _, ready)| *ready).count() == 150).then_some(())
    })
    .await;
    let before = slices(&cluster, "web").await;
    assert_eq!(before.len(), 2);
    // The change of one pod writes one slice.
    let hold = json!({"metadata": {"annotations": {annotations::READY: "false"}}});
    patch(&cluster, &format!("{PODS}/p7"), hold).await;
    let after = eventually("one is not ready", || async {
        let found = endpoints(&cluster, "web").await;
        let unready = found.iter().any(|(_, _, ready)| !ready);
        if unready {
            Some(slices(&cluster, "web").await)
        } else {
            None
        }
    })
    .await;
    let version = |slice: &Value| slice["metadata"]["resourceVersion"].clone();
    let same = before
        .iter()
        .filter(|s| after.iter().any(|a| version(a) == version(s)));
    assert_eq!(same.count(), 1);
}
