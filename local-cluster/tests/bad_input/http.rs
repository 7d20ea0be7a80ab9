//! Malformed HTTP.

use futures::future::join_all;
use tokio::io::AsyncWriteExt as _;

use super::{MAPS, is_status, served, still_serves};
use crate::wire::{connect, exchange, get, post, read_response, status, to_end};

#[tokio::test]
async fn malformed_paths_and_methods_are_refused() {
    let (cluster, server) = served().await;
    let address = server.addr();
    for (path, expected) in [
        ("/nope", 404),
        ("/api/v1/nope", 404),
        ("/api/v1/namespaces/%zz/pods", 404),
        ("/api/v1/namespaces/%ff/pods", 404),
        ("/api/v1/namespaces/default/pods/%2e%2e", 404),
        ("/api/v1/namespaces/default/pods/a%00b", 404),
        ("/../../etc/passwd", 404),
        ("*", 404),
    ] {
        let (code, _) = status(address, get(path, "")).await;
        assert!([expected, 400].contains(&code), "{path}: {code}");
    }
    for path in [
        format!("{MAPS}?labelSelector=%zz"),
        format!("{MAPS}?labelSelector=%ff"),
        format!("{MAPS}?labelSelector=((("),
        format!("{MAPS}?labelSelector={}", "a%2C".repeat(10_000)),
        format!("{MAPS}?fieldSelector=%3D%3D%3D"),
        format!("{MAPS}?limit=99999999999999999999"),
        format!("{MAPS}?resourceVersion=-1"),
        format!("{MAPS}?continue=%00"),
        format!("{MAPS}?watch=true&timeoutSeconds=-1&limit=1x"),
    ] {
        let (code, body) = status(address, get(&path, "")).await;
        let shown: String = path.chars().take(100).collect();
        assert!([200, 400].contains(&code), "{shown}: {code} {body}");
        assert!(code == 200 || is_status(400, &body), "{shown}: {body}");
    }
    for method in ["TRACE", "OPTIONS", "CONNECT", "BREW", "get", "PROPFIND"] {
        let request = get(MAPS, "").replacen("GET", method, 1);
        let (code, body) = status(address, request).await;
        assert!([400, 405].contains(&code), "{method}: {code} {body}");
        assert!(code == 400 || is_status(405, &body), "{method}: {body}");
    }
    still_serves(&cluster, &server).await;
}

#[tokio::test]
async fn too_large_heads_are_refused() {
    let (cluster, server) = served().await;
    let long = "x".repeat(70_000);
    let (code, _) = status(
        server.addr(),
        get(&format!("{MAPS}?labelSelector={long}"), ""),
    )
    .await;
    assert_eq!(code, 414);
    let (code, _) = status(
        server.addr(),
        get(MAPS, &format!("X-Long: {}\r\n", long.repeat(8))),
    )
    .await;
    assert_eq!(code, 431);
    let many: String = (0..5000).map(|n| format!("X-{n}: y\r\n")).collect();
    let (code, _) = status(server.addr(), get(MAPS, &many)).await;
    assert_eq!(code, 431);
    // Options of a request for a whole collection.
    let names: Vec<String> = (0..2000).map(|n| format!("name-{n}")).collect();
    let path = format!("{MAPS}?labelSelector=a%20in%20({})", names.join(","));
    let (code, body) = status(server.addr(), get(&path, "")).await;
    assert_eq!(code, 200, "{body}");
    still_serves(&cluster, &server).await;
}

#[tokio::test]
async fn bodies_with_wrong_lengths_cost_only_their_connection() {
    let (cluster, server) = served().await;
    let address = server.addr();
    let head = |rest: &str| {
        format!(
            "POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{rest}"
        )
    };
    for junk in [
        "\r\n\r\n\r\n\r\n".to_owned(),
        "\0\0\0\0\0\0\0\0".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: \0\r\n\r\n".to_owned(),
        head("Content-Length: -1\r\n\r\n{}"),
        head("Content-Length: 99999999999999999999999\r\n\r\n{}"),
        head("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        head("Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        head("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"),
        head("Transfer-Encoding: gzip\r\n\r\n{}"),
    ] {
        let mut stream = connect(address).await;
        let _ = stream.write_all(junk.as_bytes()).await;
        let _ = stream.shutdown().await;
        let text = to_end(&mut stream).await;
        assert!(
            text.is_empty() || text.starts_with("HTTP/1.1 4"),
            "{junk:?}: {text}"
        );
    }
    // A body that is announced too large is refused before it is sent.
    let huge = head("Connection: close\r\nContent-Length: 10000000000\r\n\r\n{");
    let mut stream = connect(address).await;
    stream.write_all(huge.as_bytes()).await.unwrap();
    let (first, body) = read_response(&mut stream).await;
    assert!(first.starts_with("HTTP/1.1 413"), "{first}");
    assert!(
        body.contains("Request entity too large: limit is 3145728"),
        "{body}"
    );
    still_serves(&cluster, &server).await;
}

#[tokio::test]
async fn requests_can_be_pipelined_and_junk_after_them_closes_the_connection() {
    let (cluster, server) = served().await;
    let request = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let text = exchange(server.addr(), request.repeat(50) + "junk\r\n\r\n").await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 50, "{text}");
    assert!(text.matches("HTTP/1.1 400").count() <= 1);
    // An unread body is not taken for the next request.
    let hidden = post("/version", "text/plain", request);
    let text = exchange(server.addr(), hidden).await;
    assert!(text.starts_with("HTTP/1.1 405"), "{text}");
    assert!(!text.contains("HTTP/1.1 200"), "{text}");
    still_serves(&cluster, &server).await;
}

#[tokio::test]
async fn aborted_requests_leave_nothing_behind() {
    let (cluster, server) = served().await;
    let address = server.addr();
    let whole = get("/api/v1/configmaps?watch=true", "");
    let posting = post(
        MAPS,
        "application/json",
        r#"{"metadata":{"generateName":"half-"}}"#,
    );
    let leaving = |text: String, length: usize, resets: bool| async move {
        let mut stream = connect(address).await;
        let part = &text.as_bytes()[..length.min(text.len())];
        let _ = stream.write_all(part).await;
        if !resets {
            let _ = stream.shutdown().await;
            to_end(&mut stream).await;
        }
    };
    let mut all = Vec::new();
    for number in 0..300_usize {
        let text = if number.is_multiple_of(2) {
            &whole
        } else {
            &posting
        };
        all.push(leaving(text.clone(), number, number.is_multiple_of(3)));
    }
    join_all(all).await;
    still_serves(&cluster, &server).await;
}
