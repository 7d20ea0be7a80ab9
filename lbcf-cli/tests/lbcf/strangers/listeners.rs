//! The listeners: those of the controller, local-cluster, the mock and a driver of the SDK.

use super::{CHILD, MIB, Server, address, child, is_skipped};
use crate::controller::Cluster;
use crate::process::Running;
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;
use lbcf_serving::tls::ClientTls;
use mock_driver::{ClbDriver, Cloud, MockOptions};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_rustls::TlsConnector;

fn request(method: &str, path: &str, body: &str) -> String {
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json");
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// The listeners of `lbcf controller`: each in a process without the other's strangers.
async fn controller(cluster: &Cluster) -> (Running, SocketAddr, SocketAddr) {
    let flags = [
        "--admission-address=127.0.0.1:0",
        "--admission-names=127.0.0.1",
    ];
    let controller = cluster.controller(&flags);
    let health = address(&controller.line_with("serving /healthz"));
    let admission = address(&controller.line_with("listening for admission"));
    controller.line_with("serving admission");
    (controller, health, admission)
}

async fn trusted(cluster: &Cluster) -> TlsConnector {
    let secrets = Api::<Secret>::namespaced(cluster.client().await, "kube-system");
    let secret = secrets.get("lbcf-controller-admission").await.unwrap();
    let tls = ClientTls {
        ca_files: vec!["ca.crt".into()],
        ..ClientTls::default()
    };
    let config = tls.config(&[secret.data.unwrap()["ca.crt"].0.clone()]);
    Arc::new(config.unwrap()).into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d104_exhaustive_strangers_take_no_more_memory_than_each_listener_has() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start();
    let (running, health, _) = controller(&cluster).await;
    let endure = |server: Server| server.endures();
    endure(Server {
        name: "health and metrics",
        pid: running.id(),
        addr: health,
        tls: None,
        path: "/metrics",
        body: MIB,
        around: "{}",
        healthy: request("GET", "/healthz", ""),
        budget: 0,
    })
    .await;
    drop(running);
    let (running, _, admission) = controller(&cluster).await;
    let review = r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
        "kind": {"group": "lbcf.tkestack.io", "version": "v1", "kind": "Bind"}, "operation": "DELETE"}}"#;
    endure(Server {
        name: "admission",
        pid: running.id(),
        addr: admission,
        tls: Some(trusted(&cluster).await),
        path: "/validate-bind",
        body: 8 * MIB,
        around: r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
            "kind": {"group": "lbcf.tkestack.io", "version": "v1", "kind": "Bind"}, "operation": "CREATE", "object": {}}}"#,
        healthy: request("POST", "/validate-bind", review),
        // For bodies, and for the sessions of 512 connections with TLS.
        budget: (64 + 16) * MIB,
    })
    .await;
    drop(running);
    let (running, url) = cluster.server();
    endure(Server {
        name: "local-cluster",
        pid: running.id(),
        addr: address(url),
        tls: None,
        path: "/api/v1/namespaces/default/configmaps",
        body: 3 * MIB,
        around: "{}",
        healthy: request("GET", "/livez", ""),
        budget: 256 * MIB,
    })
    .await;
    let mock = Running::start(&["mock-driver", "--listen", "127.0.0.1:0"]);
    // Bodies, and results that are kept with their requests; the mock reads bodies ahead.
    let sdk = Running::of(child("strangers::listeners::driver_of_the_sdk", "serve"));
    for (name, running, budget) in [
        ("a driver of the SDK", sdk, 128),
        ("mock-driver", mock, 160),
    ] {
        endure(Server {
            name,
            pid: running.id(),
            addr: address(&running.line_with("http://")),
            tls: None,
            path: "/ensureBackend",
            body: 4 * MIB,
            around: r#"{"parameters": {}}"#,
            healthy: request("POST", "/healthz", "{}"),
            budget: budget * MIB,
        })
        .await;
    }
}

/// Serves a driver with the SDK's server, until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn driver_of_the_sdk() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let driver = ClbDriver::new(Cloud::empty(), MockOptions::default());
    let server = lbcf_driver_sdk::server::Server::new(driver);
    let server = server
        .listen(([127, 0, 0, 1], 0).into())
        .bind()
        .await
        .unwrap();
    println!("{}", server.url());
    let _ = server.run_until(std::future::pending()).await;
}
