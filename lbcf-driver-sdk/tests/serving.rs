//! The server over plain sockets: paths, authentication, and misbehaving peers.

use crate::captured_log::CapturedLog;
use crate::certificates::Mounted;
use crate::running::{Client, FREE_PORT, LONG, Running, SHORT, SOON, eventually};
use crate::support::{actor, ensure, read, send};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use lbcf_driver_sdk::server::{Server, ServerError, Settings};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn webhooks_and_probes_are_at_the_root() {
    let server = Running::start(|_| ()).await;
    assert_eq!(server.url, format!("http://{}", server.addr));
    let mut client = server.connect().await;
    assert_eq!(client.get("/livez").await, (StatusCode::OK, json!("ok")));
    assert_eq!(client.get("/readyz").await, (StatusCode::OK, json!("ok")));
    let healthy = (
        StatusCode::OK,
        json!({"healthy": true, "specification": "1", "features": ["pages", "reasons"]}),
    );
    assert_eq!(client.get("/healthz").await, healthy);
    assert_eq!(
        client.call("POST", "/healthz", "{}").await.unwrap(),
        healthy
    );
    let (status, answer) = client.call("POST", "/livez", "").await.unwrap();
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer, json!({"error": "POST: probes are called with GET"}));
    server.acts(Ok(client)).await.unwrap();
}

#[tokio::test]
async fn b149_webhooks_are_below_the_prefix_and_probes_at_the_root_too() {
    let server = Running::start(|settings| settings.path_prefix = "/lbcf/v1".into()).await;
    assert_eq!(server.url, format!("http://{}/lbcf/v1", server.addr));
    let mut client = server.connect().await;
    for path in ["/livez", "/readyz", "/healthz"] {
        assert_eq!(client.get(path).await.0, StatusCode::OK, "{path}");
        let below = format!("/lbcf/v1{path}");
        assert_eq!(client.get(&below).await.0, StatusCode::OK, "{below}");
    }
    let body = ensure("1", json!({})).to_string();
    let below = client.call("POST", "/lbcf/v1/ensureBackend", body.clone());
    assert_eq!(below.await.unwrap().1["status"], "Succ");
    let (status, answer) = client.call("POST", "/ensureBackend", body).await.unwrap();
    assert_eq!(status, StatusCode::NOT_FOUND);
    let error = "/ensureBackend: not found; webhooks are below /lbcf/v1/";
    assert_eq!(answer, json!({"error": error}));
    let (status, answer) = client.get("/lbcf/v1/other").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(answer["error"].as_str().unwrap().contains("ensureBackend"));
}

#[tokio::test]
async fn invalid_settings_are_reported_at_the_start() {
    let new = || Settings {
        listen: FREE_PORT,
        ..Settings::default()
    };
    let other = Server::with(actor().0, new()).bind().await.unwrap();
    let taken = other.addr();
    let cannot_listen = format!("cannot listen on {taken}: ");
    let prefix = Settings {
        path_prefix: "lbcf".into(),
        ..new()
    };
    let listen = Settings {
        listen: taken,
        ..Settings::default()
    };
    let probes_on = Settings {
        probes_on: Some(taken),
        ..new()
    };
    let token = |token: Option<&str>, file: Option<&str>| Settings {
        token: token.map(Into::into),
        token_file: file.map(Into::into),
        ..new()
    };
    let client_ca = Settings {
        client_ca: Some("/nowhere/ca".into()),
        ..new()
    };
    let certificate = Settings {
        tls_cert: Some("/nowhere/cert".into()),
        ..new()
    };
    for (settings, complaint) in [
        (prefix, "path prefix \"lbcf\": it must begin with /"),
        (listen, &cannot_listen),
        (probes_on, &cannot_listen),
        (token(Some(""), None), "token: it is empty; omit"),
        (
            token(None, Some("/nowhere/token")),
            "cannot read /nowhere/token: ",
        ),
        (
            token(None, Some("/dev/zero")),
            "cannot read /dev/zero: not a file",
        ),
        (
            token(Some("s3cret"), Some("/dev/zero")),
            "a token and a file of one: set one of the two",
        ),
        (client_ca, "a CA for clients needs TLS"),
        (certificate, "TLS needs a certificate and its key"),
    ] {
        let server = Server::with(actor().0, settings);
        let error = server.bind().await.unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
    }
}

#[tokio::test]
async fn a_call_without_the_token_gets_401_and_the_driver_is_not_called() {
    let server = Running::start(|settings| {
        settings.token = Some("s3cret".into());
        settings.path_prefix = "/lbcf".into();
    })
    .await;
    let mut client = server.connect().await;
    for token in [
        None,
        Some("S3cret"),
        Some("s3cre"),
        Some("s3cret2"),
        Some(""),
    ] {
        client.token = token;
        // Other paths need the token too.
        for path in [
            "/lbcf/ensureBackend",
            "/lbcf/none",
            "/none",
            "/lbcf/healthz/",
            "//healthz",
        ] {
            let body = ensure("1", json!({})).to_string();
            let (status, answer) = client.call("POST", path, body).await.unwrap();
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{token:?} {path}");
            assert!(
                answer["error"]
                    .as_str()
                    .unwrap()
                    .contains("Authorization: Bearer")
            );
        }
        for path in [
            "/livez",
            "/readyz",
            "/healthz",
            "/lbcf/livez",
            "/lbcf/readyz",
            "/lbcf/healthz",
        ] {
            assert_eq!(client.get(path).await.0, StatusCode::OK, "{token:?} {path}");
        }
    }
    let request = Request::post("/lbcf/ensureBackend")
        .body(Body::empty())
        .unwrap();
    let (_, headers, _) = client.send(request).await.unwrap();
    assert_eq!(headers["www-authenticate"], "Bearer");
    assert!(server.stage.log().is_empty());
    client.token = Some("s3cret");
    let body = ensure("1", json!({})).to_string();
    let answer = client
        .call("POST", "/lbcf/ensureBackend", body)
        .await
        .unwrap();
    assert_eq!(answer.1["status"], "Succ");
    assert_eq!(client.get("/lbcf/none").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn d103_pages_of_other_sites_reach_no_port_and_no_path() {
    let server = Running::start(|settings| {
        settings.probes_on = Some(FREE_PORT);
        settings.allow_hosts = vec!["driver.example".into()];
    })
    .await;
    for addr in [server.addr, server.probes.unwrap()] {
        let mut client = Client::connect(addr, None).await.unwrap();
        for (name, value, is_refused) in [
            ("Host", "evil.example", true),
            ("Host", "localhost.evil.example", true),
            ("Origin", "https://evil.example", true),
            ("Origin", "null", true),
            ("Sec-Fetch-Site", "cross-site", true),
            ("Host", "driver.example", false),
            ("Host", "localhost:1", false),
            ("Sec-Fetch-Site", "same-origin", false),
            ("Content-Type", "text/plain", false),
        ] {
            for path in ["/ensureBackend", "/healthz", "/metrics", "/docs/", "/none"] {
                let request = Request::post(path).header(name, value);
                let sent = client.send(request.body(Body::from("{}")).unwrap());
                let (status, _, body) = sent.await.unwrap();
                let seen = format!("{path} {name}: {value}: {status} {body}");
                assert_eq!(status == StatusCode::FORBIDDEN, is_refused, "{seen}");
                if is_refused {
                    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
                    let error = body["error"].as_str().unwrap();
                    assert!(error.starts_with(&format!("{name}: {value:?}: ")), "{seen}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_large_body_without_a_token_is_not_read() {
    let server = Running::start(|settings| settings.token = Some("s3cret".into())).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let head =
        "POST /ensureBackend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    timeout(SOON, stream.read_exact(&mut status))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&status, b"HTTP/1.1 401");
    let mut rest = Vec::new();
    timeout(SOON, stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_token_that_changes_under_load_refuses_no_call_with_the_current_one() {
    let mut files = Mounted::new();
    files.put(&[("token", "first\n")]);
    let path = files.path("token");
    let server = Arc::new(Running::start(|settings| settings.token_file = Some(path)).await);
    let with = |token| {
        let server = Arc::clone(&server);
        async move {
            let mut client = server.connect().await;
            client.token = Some(token);
            client.ensure(json!({})).await.unwrap().0 == StatusCode::OK
        }
    };
    // A client with the old and the new token can call with one of them at any time.
    let (stop, answered) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let load: Vec<_> = (0..4)
        .map(|_| {
            let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
            let answered = Arc::clone(&answered);
            tokio::spawn(async move {
                let mut client = server.connect().await;
                let mut token = "first";
                while !stop.load(Ordering::Relaxed) {
                    client.token = Some(token);
                    let (status, _) = client.call("GET", "/ensureBackend", "").await.unwrap();
                    match status {
                        StatusCode::UNAUTHORIZED if token == "first" => token = "second",
                        StatusCode::METHOD_NOT_ALLOWED => {
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                        other => panic!("{token}: {other}"),
                    }
                }
                token
            })
        })
        .collect();
    assert!(with("first").await && !with("second").await);
    files.put(&[("token", "second")]);
    eventually("the new token", || with("second")).await;
    assert!(!with("first").await);
    let before = answered.load(Ordering::Relaxed);
    eventually("calls go on", || async {
        answered.load(Ordering::Relaxed) > before + 20
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    for task in load {
        assert_eq!(task.await.unwrap(), "second");
    }
}

#[tokio::test]
async fn a_token_file_that_breaks_keeps_the_token() {
    let mut files = Mounted::new();
    files.put(&[("token", "first")]);
    let path = files.path("token");
    let log = CapturedLog::new();
    let server = Running::start(|settings| settings.token_file = Some(path)).await;
    let mut client = server.connect().await;
    client.token = Some("first");
    for (broken, complaint) in [("", "empty"), ("two words", "visible ASCII")] {
        files.put(&[("token", broken)]);
        eventually(complaint, || async { log.has(complaint) }).await;
        let (status, _) = client.ensure(json!({})).await.unwrap();
        assert_eq!(status, StatusCode::OK, "{broken:?}");
    }
    // It is read many more times and reported once.
    tokio::time::sleep(SHORT).await;
    assert_eq!(log.count("the token stays what it was"), 2);
    assert!(!log.has("two words"));
    files.put(&[("token", "third")]);
    client.token = Some("third");
    eventually("the new token", || async {
        log.has("the token has changed")
    })
    .await;
    server.acts(Ok(client)).await.unwrap();
}

#[tokio::test]
async fn a_slow_head_times_out_and_blocks_no_other_connection() {
    let server = Running::start(|settings| {
        settings.head_within = SHORT;
        settings.idle_within = LONG;
    })
    .await;
    let mut slow = TcpStream::connect(server.addr).await.unwrap();
    slow.write_all(b"POST /ensureBackend HT").await.unwrap();
    server.acts(Ok(server.connect().await)).await.unwrap();
    let trickle = async {
        while slow.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SHORT / 10).await;
        }
    };
    timeout(SOON, trickle).await.unwrap();
}

#[tokio::test]
async fn idle_connections_end_after_a_while() {
    let server = Running::start(|settings| settings.idle_within = SHORT).await;
    let used = loop {
        let mut client = server.connect().await;
        // On a busy machine a request may miss the limit, too.
        if client.call("GET", "/livez", Body::empty()).await.is_ok() {
            break client;
        }
    };
    used.closed().await;
    server.connect().await.closed().await;
}

#[tokio::test]
async fn d104_idle_connections_give_way_beyond_the_limit() {
    let server = Running::start(|settings| settings.max_connections = 2).await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    first.get("/livez").await;
    second.get("/livez").await;
    let mut third = server.connect().await;
    assert_eq!(third.get("/livez").await.0, StatusCode::OK);
    first.closed().await;
    assert_eq!(second.get("/livez").await.0, StatusCode::OK);
}

#[tokio::test]
async fn garbage_harms_no_other_client() {
    let server = Running::start(|_| ()).await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"\r\n\0\0\0",
        b"GET\r\n\r\n",
        &[b'x'; 1 << 20],
    ] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        // It may close the connection early.
        let _ = stream.write_all(garbage).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = timeout(SOON, stream.read_to_end(&mut answer))
            .await
            .unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    server.acts(Ok(server.connect().await)).await.unwrap();
}

#[tokio::test]
async fn probes_have_a_port_of_their_own_without_webhooks() {
    let server = Running::start(|settings| {
        settings.token = Some("s3cret".into());
        settings.path_prefix = "/lbcf".into();
        settings.probes_on = Some(FREE_PORT);
    })
    .await;
    let mut client = Client::connect(server.probes.unwrap(), None).await.unwrap();
    for path in ["/livez", "/readyz", "/healthz"] {
        assert_eq!(client.get(path).await.0, StatusCode::OK, "{path}");
    }
    for path in ["/ensureBackend", "/lbcf/ensureBackend", "/lbcf/healthz"] {
        let body = ensure("1", json!({})).to_string();
        let (status, answer) = client.call("POST", path, body).await.unwrap();
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer["error"].as_str().unwrap().contains("/readyz"));
    }
    assert!(server.stage.log().is_empty());
}

#[tokio::test]
async fn a_router_for_another_server_has_prefix_probes_and_token() {
    let (actor, stage) = actor();
    let settings = Settings {
        path_prefix: "/lbcf".into(),
        token: Some("s3cret".into()),
        ..Settings::default()
    };
    let router = Server::with(actor, settings).into_router().await.unwrap();
    let request = |token: &str| {
        Request::post("/lbcf/ensureBackend")
            .header("authorization", format!("Bearer {token}"))
            .body(ensure("1", json!({})).to_string().into())
            .unwrap()
    };
    let wrong = read(send(&router, request("wrong")).await).await;
    assert_eq!(wrong.0, StatusCode::UNAUTHORIZED);
    assert!(stage.log().is_empty());
    let right = read(send(&router, request("s3cret")).await).await;
    assert_eq!(right.1["status"], "Succ");
    let ready = Request::get("/readyz").body(Body::empty()).unwrap();
    assert_eq!(send(&router, ready).await.status(), StatusCode::OK);

    let refused = Server::new(crate::support::actor().0).tls("c", "k");
    let refused = refused.into_router();
    assert!(matches!(refused.await, Err(ServerError::Settings(_))));
}

#[tokio::test]
async fn metrics_and_documents_are_at_the_root_and_need_the_token() {
    let server = Running::start(|settings| {
        settings.token = Some("s3cret".into());
        settings.path_prefix = "/lbcf".into();
        settings.probes_on = Some(FREE_PORT);
    })
    .await;
    let mut client = server.connect().await;
    let mut paths = vec!["/metrics"];
    if cfg!(feature = "openapi") {
        paths.push("/openapi.json");
    }
    if cfg!(feature = "swagger-ui") {
        paths.push("/docs/");
    }
    for path in paths {
        client.token = None;
        assert_eq!(client.get(path).await.0, StatusCode::UNAUTHORIZED, "{path}");
        client.token = Some("s3cret");
        assert_eq!(client.get(path).await.0, StatusCode::OK, "{path}");
    }
    let mut probe = Client::connect(server.probes.unwrap(), None).await.unwrap();
    let (status, metrics) = probe.get("/metrics").await;
    assert_eq!(status, StatusCode::OK);
    assert!(metrics.as_str().unwrap().contains("lbcf_driver_"));
    assert_eq!(probe.get("/openapi.json").await.0, StatusCode::NOT_FOUND);
}
