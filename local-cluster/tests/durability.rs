//! A cluster with a data directory survives the end of its process.

mod killed;

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use local_cluster::{Error, LocalCluster, LocalClusterOptions, NodeSpec};
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, eventually, quick, widget};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";
const SERVICES: &str = "/api/v1/namespaces/default/services";

/// A temporary directory, removed when dropped.
struct DataDirectory(PathBuf);

impl DataDirectory {
    fn new(test: &str) -> Self {
        let name = format!("local-cluster-{test}-{}", std::process::id());
        let directory = Self(std::env::temp_dir().join(name));
        let _ = std::fs::remove_dir_all(&directory.0);
        directory
    }

    fn options(&self) -> LocalClusterOptions {
        LocalClusterOptions {
            data_dir: Some(self.0.clone()),
            ..quick()
        }
    }

    async fn start(&self) -> LocalCluster {
        LocalCluster::start(self.options()).await.unwrap()
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v"}})
}

async fn create(cluster: &LocalCluster, path: &str, body: Value) -> Value {
    let (status, created) = call(cluster, "POST", path, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    created
}

async fn get(cluster: &LocalCluster, path: &str) -> Value {
    let (status, object) = call(cluster, "GET", path, None).await;
    assert_eq!(status, StatusCode::OK, "{path}: {object}");
    object
}

async fn status_of(cluster: &LocalCluster, path: &str) -> StatusCode {
    call(cluster, "GET", path, None).await.0
}

fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.unwrap().parse().unwrap()
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let directory = DataDirectory::new("again");
    let before = cluster(directory.options()).await;
    create(&before, WIDGETS, widget("a")).await;
    create(&before, MAPS, map("kept")).await;
    create(&before, MAPS, map("gone")).await;
    call(&before, "DELETE", &format!("{MAPS}/gone"), None).await;
    let kept = get(&before, &format!("{MAPS}/kept")).await;
    let last = create(
        &before,
        "/api/v1/namespaces",
        json!({"metadata": {"name": "n"}}),
    )
    .await;
    let objects = get(&before, WIDGETS).await["items"].clone();
    before.shutdown().await;

    let after = directory.start().await;
    // The custom resources are served at once.
    assert_eq!(get(&after, WIDGETS).await["items"], objects);
    assert_eq!(get(&after, &format!("{MAPS}/kept")).await, kept);
    assert_eq!(
        status_of(&after, &format!("{MAPS}/gone")).await,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        status_of(&after, "/api/v1/namespaces/n").await,
        StatusCode::OK
    );
    let next = create(&after, MAPS, map("next")).await;
    assert!(version(&next) > version(&last));
    // The initial objects were not created again.
    let nodes = get(&after, "/api/v1/nodes").await;
    assert_eq!(nodes["items"].as_array().unwrap().len(), 2);
    // Controllers work: schemas are enforced, objects without owner are deleted, pods run.
    let mut wrong = widget("w");
    wrong["spec"]["colour"] = json!("green");
    let (status, _) = call(&after, "POST", WIDGETS, Some(wrong)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    call(&after, "DELETE", crd, None).await;
    eventually("widgets are gone", || async {
        (status_of(&after, WIDGETS).await == StatusCode::NOT_FOUND).then_some(())
    })
    .await;
}

#[tokio::test]
async fn interrupted_work_is_completed() {
    let directory = DataDirectory::new("underway");
    let slow = LocalClusterOptions {
        pod_termination_delay: Duration::from_secs(3600),
        ..directory.options()
    };
    let before = LocalCluster::start(slow).await.unwrap();
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "terminationGracePeriodSeconds": 3600, "containers": [{"name": "c", "image": "i"}]}});
    create(&before, PODS, pod).await;
    let running = || async {
        let pod = get(&before, &format!("{PODS}/p")).await;
        (pod["status"]["phase"] == "Running").then_some(pod)
    };
    let pod = eventually("the pod runs", running).await;
    let uid = pod["metadata"]["uid"].clone();
    let mut owned = map("owned");
    owned["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid}]);
    create(&before, MAPS, owned).await;
    create(
        &before,
        "/api/v1/namespaces",
        json!({"metadata": {"name": "n"}}),
    )
    .await;
    let mut held = map("held");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&before, "/api/v1/namespaces/n/configmaps", held).await;
    for path in [&format!("{PODS}/p"), "/api/v1/namespaces/n"] {
        call(&before, "DELETE", path, None).await;
    }
    before.shutdown().await;

    let after = directory.start().await;
    let gone = |path: String| {
        let after = &after;
        move || {
            let path = path.clone();
            async move { (status_of(after, &path).await == StatusCode::NOT_FOUND).then_some(()) }
        }
    };
    eventually("the pod ends", gone(format!("{PODS}/p"))).await;
    eventually("its map is collected", gone(format!("{MAPS}/owned"))).await;
    let held = "/api/v1/namespaces/n/configmaps/held";
    let free = json!({"metadata": {"finalizers": null}});
    call(&after, "PATCH", held, Some(free)).await;
    eventually(
        "the namespace ends",
        gone("/api/v1/namespaces/n".to_owned()),
    )
    .await;
}

#[tokio::test]
async fn deleted_initial_objects_come_back_as_on_a_cluster() {
    let directory = DataDirectory::new("seed");
    let before = directory.start().await;
    let system = "/api/v1/namespaces/kube-public";
    let service = format!("{SERVICES}/kubernetes");
    for path in ["/api/v1/nodes/node-1", system, &service] {
        let (status, _) = call(&before, "DELETE", path, None).await;
        assert_eq!(status, StatusCode::OK);
    }
    eventually("the namespace ends", || async {
        (status_of(&before, system).await == StatusCode::NOT_FOUND).then_some(())
    })
    .await;
    before.shutdown().await;

    let mut options = directory.options();
    options.nodes.push(NodeSpec {
        name: "node-3".to_owned(),
        address: "192.0.2.3".parse().unwrap(),
    });
    for _ in 0..2 {
        let after = LocalCluster::start(options.clone()).await.unwrap();
        assert_eq!(status_of(&after, system).await, StatusCode::OK);
        assert_eq!(
            get(&after, &service).await["spec"]["clusterIP"],
            "10.96.0.1"
        );
        let nodes = get(&after, "/api/v1/nodes").await;
        let names: Vec<&str> = nodes["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["metadata"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["node-2", "node-3"]);
        after.shutdown().await;
    }
}

#[tokio::test]
async fn an_interrupted_start_is_completed() {
    let directory = DataDirectory::new("short");
    let options = LocalClusterOptions {
        nodes: Vec::new(),
        ..directory.options()
    };
    // The first process created no nodes, one of the namespaces and no service.
    let before = LocalCluster::start(options).await.unwrap();
    for path in [
        "/api/v1/namespaces/kube-system",
        &format!("{SERVICES}/kubernetes"),
    ] {
        call(&before, "DELETE", path, None).await;
    }
    let node = json!({"metadata": {"name": "node-1"}});
    create(&before, "/api/v1/nodes", node).await;
    before.shutdown().await;
    let after = directory.start().await;
    for path in [
        "/api/v1/namespaces/kube-system",
        "/api/v1/nodes/node-1",
        "/api/v1/nodes/node-2",
        &format!("{SERVICES}/kubernetes"),
    ] {
        assert_eq!(status_of(&after, path).await, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn addresses_are_not_allocated_twice() {
    let directory = DataDirectory::new("addresses");
    let service = |name: &str| {
        json!({"metadata": {"name": name},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    };
    let before = directory.start().await;
    let first = create(&before, SERVICES, service("a")).await;
    drop(before);
    let after = directory.start().await;
    let second = create(&after, SERVICES, service("b")).await;
    for pointer in ["/spec/clusterIP", "/spec/ports/0/nodePort"] {
        assert!(first.pointer(pointer).is_some());
        assert_ne!(first.pointer(pointer), second.pointer(pointer));
    }
}

#[tokio::test]
async fn webhooks_review_the_first_write() {
    let directory = DataDirectory::new("webhooks");
    let before = directory.start().await;
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"metadata": {"name": "w"}, "webhooks": [{
        "name": "w.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1, "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
            "operations": ["CREATE"]}],
    }]});
    create(&before, configurations, configuration).await;
    before.shutdown().await;
    let after = directory.start().await;
    let (status, why) = call(&after, "POST", MAPS, Some(map("m"))).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{why}");
    assert!(why["message"].as_str().unwrap().contains("w.example.com"));
}

#[tokio::test]
async fn versions_from_before_a_restart_have_expired() {
    let directory = DataDirectory::new("expired");
    let before = directory.start().await;
    let old = version(&create(&before, MAPS, map("a")).await);
    create(&before, MAPS, map("b")).await;
    let page = get(&before, &format!("{MAPS}?limit=1")).await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    before.shutdown().await;

    let after = directory.start().await;
    let exact = format!("{MAPS}?resourceVersion={old}&resourceVersionMatch=Exact");
    let (status, error) = call(&after, "GET", &exact, None).await;
    assert_eq!(
        (status, &error["reason"]),
        (StatusCode::GONE, &json!("Expired"))
    );
    let watch = format!("{MAPS}?watch=true&resourceVersion={old}");
    let (status, event) = call(&after, "GET", &watch, None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["code"], 410);
    // The list can continue, but inconsistently.
    let (status, error) = call(
        &after,
        "GET",
        &format!("{MAPS}?limit=1&continue={token}"),
        None,
    )
    .await;
    assert_eq!(status, StatusCode::GONE);
    let token = error["metadata"]["continue"].as_str().unwrap();
    let rest = get(&after, &format!("{MAPS}?limit=1&continue={token}")).await;
    assert_eq!(rest["items"][0]["metadata"]["name"], "b");
    // The present objects can be watched.
    let list = get(&after, MAPS).await;
    create(&after, MAPS, map("c")).await;
    let watch = format!(
        "{MAPS}?watch=true&timeoutSeconds=1&resourceVersion={}",
        version(&list)
    );
    let (_, event) = call(&after, "GET", &watch, None).await;
    assert_eq!(event["object"]["metadata"]["name"], "c");
}

#[tokio::test]
async fn a_directory_is_locked() {
    let directory = DataDirectory::new("one");
    let first = directory.start().await;
    let client = first.client();
    let rejected = LocalCluster::start(directory.options()).await;
    let Err(error @ Error::DataDirInUse { .. }) = rejected else {
        panic!("{rejected:?}");
    };
    let words = error.to_string();
    assert!(words.contains(directory.0.to_str().unwrap()), "{words}");
    assert!(words.contains("stop that one, or choose another directory"));
    // A client of the stopped cluster does not keep the directory locked.
    drop(first);
    let second = directory.start().await;
    second.shutdown().await;
    drop(client);

    let file = directory.0.join("lock");
    let options = LocalClusterOptions {
        data_dir: Some(file.clone()),
        ..quick()
    };
    let Err(error @ Error::DataDir { .. }) = LocalCluster::start(options).await else {
        panic!("a file is no directory");
    };
    assert!(error.to_string().contains(file.to_str().unwrap()));
}

#[tokio::test]
async fn writes_that_the_disk_refuses_fail_and_change_nothing() {
    let directory = DataDirectory::new("vanished");
    let cluster = directory.start().await;
    let kept = create(&cluster, MAPS, map("kept")).await;
    std::fs::remove_dir_all(&directory.0).unwrap();
    let one = format!("{MAPS}/kept");
    let change = json!({"data": {"k": "w"}});
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "x"}});
    for (method, path, body) in [
        ("POST", MAPS, Some(map("new"))),
        ("PATCH", one.as_str(), Some(change)),
        ("DELETE", one.as_str(), None),
    ] {
        let (status, error) = call(&cluster, method, path, body).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{method}");
        assert_eq!(error["reason"], "InternalError");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(directory.0.to_str().unwrap()), "{message}");
    }
    let (status, _) = crate::fixture::raw(
        &cluster,
        "PATCH",
        &format!("{one}?fieldManager=m&force=true"),
        "application/apply-patch+yaml",
        apply.to_string().into_bytes(),
    )
    .await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(get(&cluster, &one).await, kept);
    let list = get(&cluster, MAPS).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}
