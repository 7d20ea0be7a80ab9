//! What clients may cost.

use std::time::Duration;

use futures::StreamExt as _;
use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, WatchParams};
use local_cluster::{Limits, ServeOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{client_of, nodes, secured, served};
use crate::fixture::{DEADLINE, eventually};
use crate::wire::{connect, exchange, get, post, read_response, to_end};

const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn handshakes_have_a_deadline_and_delay_no_other_client() {
    let options = ServeOptions {
        limits: Limits {
            handshake: SHORT,
            ..ServeOptions::default().limits
        },
        ..secured("t")
    };
    let (_cluster, server) = served(options).await;
    let silent = join_all((0..50).map(|_| connect(server.addr()))).await;
    let mut half = connect(server.addr()).await;
    half.write_all(b"\x16\x03\x01\x00\xa5\x01").await.unwrap();
    // On a busy machine an honest handshake may miss the deadline, too.
    let client = client_of(&server.kubeconfig()).await;
    let listed = || async { nodes(client.clone()).await.ok() };
    assert_eq!(eventually("the nodes are listed", listed).await, 2);
    for mut stream in silent {
        assert_eq!(to_end(&mut stream).await, "");
    }
    to_end(&mut half).await;
}

#[tokio::test]
async fn heads_have_a_deadline() {
    let options = ServeOptions {
        limits: Limits {
            head: SHORT,
            idle: SHORT,
            ..ServeOptions::default().limits
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let mut silent = connect(server.addr()).await;
    let mut half = connect(server.addr()).await;
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n")
        .await
        .unwrap();
    // On a busy machine a whole head may miss the deadline, too.
    let served = || async {
        let mut idle = connect(server.addr()).await;
        let request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
        idle.write_all(request).await.ok()?;
        let mut first = [0; 12];
        idle.read_exact(&mut first).await.ok()?;
        assert_eq!(&first, b"HTTP/1.1 200");
        Some(idle)
    };
    let mut idle = eventually("a request is served", served).await;
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
async fn a_client_with_thousands_of_connections_keeps_no_other_out() {
    let options = ServeOptions {
        limits: Limits {
            connections: 20,
            ..ServeOptions::default().limits
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
    // A connection with a request stays open while there are idle ones.
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn where_all_connections_have_requests_the_oldest_watch_ends_for_a_new_one() {
    let options = ServeOptions {
        limits: Limits {
            connections: 2,
            ..ServeOptions::default().limits
        },
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let watch =
        "GET /api/v1/configmaps?watch=true&resourceVersion=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut watches = Vec::new();
    for _ in 0..2 {
        let mut stream = connect(server.addr()).await;
        stream.write_all(watch.as_bytes()).await.unwrap();
        assert!(
            read_response(&mut stream)
                .await
                .0
                .starts_with("HTTP/1.1 200")
        );
        watches.push(stream);
    }
    let served = exchange(server.addr(), get("/livez", "")).await;
    assert!(served.starts_with("HTTP/1.1 200"), "{served}");
    // It ends as a watch does at its timeout.
    assert_eq!(to_end(&mut watches[0]).await, "0\r\n\r\n");
}

#[tokio::test]
async fn a_connection_whose_client_does_not_read_is_closed() {
    let options = ServeOptions {
        limits: Limits {
            stall: SHORT,
            ..ServeOptions::default().limits
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
    let mut silent = connect(server.addr()).await;
    let request = get("/api/v1/configmaps", "");
    silent.write_all(request.as_bytes()).await.unwrap();
    // Writing fails once the server has closed the connection, before the whole response.
    let given_up = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if silent.write_all(b"x").await.is_err() {
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
        body_bytes: 1024 * 1024,
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let path = "/api/v1/namespaces/default/configmaps";
    let mut slow = connect(server.addr()).await;
    let head = "Content-Length: 1000000\r\n\r\n{";
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}");
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&[b' '; 700_000]).await.unwrap();
    // One byte more than a small body: the server has read all of it when it refuses, so that it
    // closes the connection without a reset, which could discard the response.
    let large = " ".repeat(64 * 1024 + 1);
    let is_refused = async || {
        let text = exchange(server.addr(), post(path, "application/json", &large)).await;
        let is_refused = text.contains("HTTP/1.1 429");
        assert!(is_refused || text.contains("HTTP/1.1 400"), "{text}");
        assert!(!is_refused || text.to_lowercase().contains("retry-after: 1\r\n"));
        is_refused
    };
    let refused = || async { is_refused().await.then_some(()) };
    eventually("the budget is used up", refused).await;
    let small = r#"{"metadata":{"name":"small"}}"#;
    let text = exchange(server.addr(), post(path, "application/json", small)).await;
    assert!(text.starts_with("HTTP/1.1 201"), "{text}");
    drop(slow);
    let accepted = || async { (!is_refused().await).then_some(()) };
    eventually("the budget is free again", accepted).await;
}
