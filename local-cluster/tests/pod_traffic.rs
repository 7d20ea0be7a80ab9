//! Pods that answer.

use std::net::SocketAddr;
use std::time::Duration;

use http::StatusCode;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{call, eventually, quick};

const PODS: &str = "/api/v1/namespaces/default/pods";
/// One that needs no privileges; each pod has an address of its own.
const PORT: u16 = 18080;

async fn cluster() -> LocalCluster {
    start(quick()).await
}

async fn start(options: LocalClusterOptions) -> LocalCluster {
    let options = LocalClusterOptions {
        pod_traffic: true,
        ..options
    };
    LocalCluster::start(options).await.unwrap()
}

fn pod(name: &str, change: Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "i", "ports": [{"containerPort": PORT}]}]},
    });
    json_merge(&mut pod, &change);
    pod
}

fn json_merge(to: &mut Value, change: &Value) {
    match (to, change) {
        (Value::Object(to), Value::Object(change)) => change
            .iter()
            .for_each(|(key, value)| json_merge(to.entry(key).or_insert(Value::Null), value)),
        (to, change) => to.clone_from(change),
    }
}

async fn create(cluster: &LocalCluster, pod: Value) {
    let (status, created) = call(cluster, "POST", PODS, Some(pod)).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

async fn read(cluster: &LocalCluster, name: &str) -> Option<Value> {
    let (status, pod) = call(cluster, "GET", &format!("{PODS}/{name}"), None).await;
    (status == StatusCode::OK).then_some(pod)
}

/// Where a pod serves, once it is running.
async fn running(cluster: &LocalCluster, name: &str) -> SocketAddr {
    let ip = eventually("the pod is running", || async {
        let pod = read(cluster, name).await?;
        (pod["status"]["phase"] == "Running").then(|| pod["status"]["podIP"].clone())
    });
    SocketAddr::new(ip.await.as_str().unwrap().parse().unwrap(), PORT)
}

/// Sends one request; nothing if the connection fails or ends early.
async fn get(addr: SocketAddr, path: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(addr).await.ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: web\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.ok()?;
    let status = response.get(9..12)?.parse().ok()?;
    let (_, body) = response.split_once("\r\n\r\n")?;
    Some((status, serde_json::from_str(body).ok()?))
}

#[tokio::test]
async fn a_running_pod_answers_until_it_is_gone() {
    let cluster = cluster().await;
    create(&cluster, pod("a", json!({}))).await;
    create(&cluster, pod("b", json!({}))).await;
    let (a, b) = (running(&cluster, "a").await, running(&cluster, "b").await);
    assert_ne!(a, b);
    assert!(a.ip().to_string().starts_with("127.244."), "{a}");
    let (status, answer) = get(a, "/x?y=1").await.unwrap();
    let expected = [
        &answer["pod"],
        &answer["namespace"],
        &answer["uri"],
        &answer["headers"]["host"],
    ];
    assert_eq!(
        (status, expected),
        (
            200,
            [
                &json!("a"),
                &json!("default"),
                &json!("/x?y=1"),
                &json!("web")
            ]
        )
    );
    assert!(answer["node"].as_str().unwrap().starts_with("node-"));
    assert_eq!(get(b, "/").await.unwrap().1["pod"], "b");
    call(&cluster, "DELETE", &format!("{PODS}/a"), None).await;
    eventually("a is gone", || async {
        let gone = read(&cluster, "a").await.is_none();
        gone.then_some(())
    })
    .await;
    eventually("nothing answers for a", || async {
        TcpStream::connect(a).await.is_err().then_some(())
    })
    .await;
    assert_eq!(get(b, "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn health_follows_the_annotation() {
    let cluster = cluster().await;
    let unready = json!({"metadata": {"annotations": {"local-cluster/ready": "false"}}});
    create(&cluster, pod("a", unready.clone())).await;
    let addr = running(&cluster, "a").await;
    assert_eq!(
        get(addr, "/healthz").await.unwrap(),
        (503, json!({"ready": false}))
    );
    assert_eq!(get(addr, "/").await.unwrap().0, 200);
    let ready = json!({"metadata": {"annotations": {"local-cluster/ready": null}}});
    call(&cluster, "PATCH", &format!("{PODS}/a"), Some(ready)).await;
    eventually("healthy", || async {
        (get(addr, "/healthz").await?.0 == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_terminating_pod_serves_and_finishes_what_it_has_begun() {
    let cluster = start(LocalClusterOptions {
        pod_termination_delay: Duration::from_secs(2),
        ..quick()
    });
    let cluster = cluster.await;
    create(&cluster, pod("a", json!({}))).await;
    let addr = running(&cluster, "a").await;
    let slow = tokio::spawn(async move { get(addr, "/slow?ms=600000").await });
    // Its request comes when the pod has stopped to accept.
    let mut late = TcpStream::connect(addr).await.unwrap();
    call(&cluster, "DELETE", &format!("{PODS}/a"), None).await;
    let deleted = read(&cluster, "a").await;
    assert!(deleted.is_none_or(|pod| pod["metadata"]["deletionTimestamp"].is_string()));
    assert_eq!(get(addr, "/").await.unwrap().0, 200);
    let (status, answer) = slow.await.unwrap().unwrap();
    assert_eq!((status, &answer["pod"]), (200, &json!("a")));
    let request = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    late.write_all(request).await.unwrap();
    let mut response = String::new();
    late.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert!(read(&cluster, "a").await.is_none());
}

#[tokio::test]
async fn a_pod_whose_containers_have_exited_answers_no_more() {
    let options = LocalClusterOptions {
        pod_run_time: Duration::from_millis(10),
        ..quick()
    };
    let cluster = start(options).await;
    let once = json!({
        "metadata": {"annotations": {"local-cluster/exit-code": "3"}},
        "spec": {"restartPolicy": "Never"},
    });
    create(&cluster, pod("once", once)).await;
    let ended = eventually("it has ended", || async {
        let pod = read(&cluster, "once").await?;
        (pod["status"]["phase"] == "Failed").then_some(pod)
    })
    .await;
    let ip = ended["status"]["podIP"].as_str().unwrap();
    let addr = SocketAddr::new(ip.parse().unwrap(), PORT);
    eventually("it answers no more", || async {
        TcpStream::connect(addr).await.is_err().then_some(())
    })
    .await;
}

#[tokio::test]
async fn bad_requests_are_refused_and_the_pod_goes_on() {
    let cluster = cluster().await;
    create(&cluster, pod("a", json!({}))).await;
    let addr = running(&cluster, "a").await;
    for (path, error) in [
        ("/slow?ms=-1", r#"ms: "-1": not a whole number"#),
        ("/slow?ms=", r#"ms: "": not a whole number"#),
    ] {
        let (status, body) = get(addr, path).await.unwrap();
        assert_eq!((status, &body["error"]), (400, &json!(error)), "{path}");
    }
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(b"\x16\x03 no HTTP\r\n\r\n").await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert_eq!(get(addr, "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn a_users_program_has_the_address_that_the_annotation_names() {
    let cluster = cluster().await;
    let ip = json!({"metadata": {"annotations": {"local-cluster/pod-ip": "192.0.2.7"}}});
    create(&cluster, pod("mine", ip)).await;
    assert_eq!(
        running(&cluster, "mine").await.ip().to_string(),
        "192.0.2.7"
    );
    let none = json!({"metadata": {"annotations": {"local-cluster/pod-ip": "no address"}}});
    create(&cluster, pod("other", none)).await;
    let addr = running(&cluster, "other").await;
    assert_eq!(get(addr, "/").await.unwrap().1["pod"], "other");
}

#[tokio::test]
async fn an_address_that_another_program_uses_is_skipped() {
    let (one, other) = (cluster().await, cluster().await);
    create(&one, pod("a", json!({}))).await;
    create(&other, pod("a", json!({}))).await;
    let addresses = [running(&one, "a").await, running(&other, "a").await];
    assert_ne!(addresses[0], addresses[1]);
    let taken = TcpListener::bind((addresses[0].ip(), PORT)).await;
    assert!(taken.is_err());
}

#[tokio::test]
async fn pods_that_serve_are_endpoints_of_services() {
    let cluster = cluster().await;
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": PORT}]},
    });
    let services = "/api/v1/namespaces/default/services";
    assert_eq!(call(&cluster, "POST", services, Some(service)).await.0, 201);
    create(&cluster, pod("a", json!({}))).await;
    let addr = running(&cluster, "a").await;
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    eventually("the pod is an endpoint", || async {
        let (_, list) = call(&cluster, "GET", slices, None).await;
        let endpoints = list["items"].as_array()?.iter();
        let mut addresses = endpoints.flat_map(|slice| slice["endpoints"].as_array());
        let is_listed = |it: &Vec<Value>| {
            it.iter()
                .any(|e| e["addresses"][0] == addr.ip().to_string())
        };
        addresses.any(is_listed).then_some(())
    })
    .await;
}

#[tokio::test]
async fn pods_of_a_data_directory_serve_again() {
    let directory = std::env::temp_dir().join(format!("pod-traffic-{}", std::process::id()));
    let options = LocalClusterOptions {
        data_dir: Some(directory.clone()),
        ..quick()
    };
    // Between the two clusters the address is free: with the port of the other tests, one of their pods could
    // take it.
    let own_port = PORT + 1;
    let ports = json!([{"containerPort": own_port}]);
    let containers = json!([{"name": "web", "image": "i", "ports": ports}]);
    let first = start(options.clone()).await;
    let own = pod("a", json!({"spec": {"containers": containers}}));
    create(&first, own).await;
    let addr = SocketAddr::new(running(&first, "a").await.ip(), own_port);
    first.shutdown().await;
    eventually("the first one's pods have ended", || async {
        TcpStream::connect(addr).await.is_err().then_some(())
    })
    .await;
    let second = start(options).await;
    eventually("it serves again", || async {
        (get(addr, "/").await?.1["pod"] == "a").then_some(())
    })
    .await;
    second.shutdown().await;
    std::fs::remove_dir_all(directory).unwrap();
}
