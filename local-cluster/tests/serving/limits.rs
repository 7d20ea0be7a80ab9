//! What a peer may cost.

use std::time::Duration;

use futures::StreamExt as _;
use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, WatchParams};
use local_cluster::{ConnectionLimits, ServeOptions};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::{client_of, nodes, secured, served};
use crate::fixture::DEADLINE;
use crate::wire::{answer, connect, exchange, get, to_end};

const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn handshakes_have_a_deadline_and_hold_nobody_up() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            handshake: SHORT,
            ..ConnectionLimits::default()
        },
        ..secured("t")
    };
    let (_cluster, server) = served(options).await;
    let silent = join_all((0..50).map(|_| connect(server.addr()))).await;
    let mut half = connect(server.addr()).await;
    half.write_all(b"\x16\x03\x01\x00\xa5\x01").await.unwrap();
    assert_eq!(
        nodes(client_of(&server.kubeconfig()).await).await.unwrap(),
        2
    );
    for mut stream in silent {
        assert_eq!(to_end(&mut stream).await, "");
    }
    to_end(&mut half).await;
}

#[tokio::test]
async fn heads_have_a_deadline() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            head: SHORT,
            ..ConnectionLimits::default()
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let mut silent = connect(server.addr()).await;
    let mut half = connect(server.addr()).await;
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
        .await
        .unwrap();
    let mut idle = connect(server.addr()).await;
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    assert!(answer(&mut idle).await.0.starts_with("HTTP/1.1 200"));
    for stream in [&mut silent, &mut half, &mut idle] {
        let rest = to_end(stream).await;
        assert!(!rest.contains("200"), "{rest}");
    }
}

/// Connections that are open and silent.
async fn crowd(address: std::net::SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for _ in 0..count {
        crowd.push(connect(address).await);
    }
    crowd
}

#[tokio::test]
async fn who_holds_thousands_of_connections_keeps_nobody_out() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            connections: 20,
            ..ConnectionLimits::default()
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let client = client_of(&server.kubeconfig()).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = maps
        .watch(&WatchParams::default().disable_bookmarks(), "0")
        .await
        .unwrap()
        .boxed();
    let waiting = tokio::spawn(async move { watch.next().await.is_some() });
    for _ in 0..4 {
        let crowd = crowd(server.addr(), 500).await;
        let served = exchange(server.addr(), get("/livez", "")).await;
        assert!(served.starts_with("HTTP/1.1 200"), "{served}");
        drop(crowd);
    }
    // Who is served keeps its place while there are idle ones.
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn where_all_are_at_work_the_oldest_watch_ends_for_a_newcomer() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            connections: 2,
            ..ConnectionLimits::default()
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let watch = "GET /api/v1/configmaps?watch=true&resourceVersion=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut watches = Vec::new();
    for _ in 0..2 {
        let mut stream = connect(server.addr()).await;
        stream.write_all(watch.as_bytes()).await.unwrap();
        assert!(answer(&mut stream).await.0.starts_with("HTTP/1.1 200"));
        watches.push(stream);
    }
    let served = exchange(server.addr(), get("/livez", "")).await;
    assert!(served.starts_with("HTTP/1.1 200"), "{served}");
    // It ends as a watch does whose time is over.
    assert_eq!(to_end(&mut watches[0]).await, "0\r\n\r\n");
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_given_up() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            stall: SHORT,
            ..ConnectionLimits::default()
        },
        ..ServeOptions::default()
    };
    let (cluster, server) = served(options).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let map = |n: usize| {
        serde_json::from_value(serde_json::json!({
            "metadata": {"name": format!("m{n}")}, "data": {"x": "y".repeat(900_000)},
        }))
    };
    for n in 0..12 {
        maps.create(&Default::default(), &map(n).unwrap())
            .await
            .unwrap();
    }
    let mut deaf = connect(server.addr()).await;
    let request = get("/api/v1/configmaps", "");
    deaf.write_all(request.as_bytes()).await.unwrap();
    // Only when the server has given up does it end before the whole answer.
    let given_up = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if deaf.write_all(b"x").await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(DEADLINE, given_up).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn large_bodies_share_a_budget_and_small_ones_need_none() {
    let options = ServeOptions {
        limits: ConnectionLimits {
            bodies: 1024 * 1024,
            ..ConnectionLimits::default()
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let path = "/api/v1/namespaces/default/configmaps";
    let large = |size: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n{{"
        )
    };
    let mut slow = connect(server.addr()).await;
    slow.write_all(large(1_000_000).as_bytes()).await.unwrap();
    slow.write_all(&[b' '; 700_000]).await.unwrap();
    let refused = async || {
        let mut body = large(900_000);
        body.push_str(&" ".repeat(899_999));
        let text = exchange(server.addr(), body).await;
        text.contains("HTTP/1.1 429") && text.to_lowercase().contains("retry-after: 1\r\n")
    };
    let waiting = async { while !refused().await {} };
    tokio::time::timeout(DEADLINE, waiting).await.unwrap();
    let small = r#"{"metadata":{"name":"small"}}"#;
    let text = exchange(
        server.addr(),
        crate::wire::post(path, "application/json", small),
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 201"), "{text}");
    drop(slow);
    let waiting = async { while refused().await {} };
    tokio::time::timeout(DEADLINE, waiting).await.unwrap();
}
