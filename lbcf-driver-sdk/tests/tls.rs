//! TLS with a real client: who is let in, certificates that change, and peers that do not speak it.

use crate::captured_log::CapturedLog;
use crate::certificates::{Ca, Mounted};
use crate::running::{Client, FREE_PORT, LONG, Refused, Running, SHORT, SOON, eventually};
use crate::support::actor;
use axum::http::StatusCode;
use lbcf_driver_sdk::server::{Server, Settings};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// HTTPS with these files.
fn serve_tls(settings: &mut Settings, own: &Mounted) {
    settings.tls_cert = Some(own.path("tls.crt"));
    settings.tls_key = Some(own.path("tls.key"));
}

/// A server with a certificate of this CA; with `client_ca` it accepts only clients of that CA.
async fn start(ca: &Ca, client_ca: Option<&Ca>) -> (Running, Mounted, Mounted) {
    let (mut own, mut clients) = (Mounted::new(), Mounted::new());
    own.put_identity(&ca.server());
    if let Some(client_ca) = client_ca {
        clients.put(&[("ca.crt", &client_ca.pem())]);
    }
    let server = Running::start(|settings| {
        serve_tls(settings, &own);
        settings.client_ca = client_ca.map(|_| clients.path("ca.crt"));
    })
    .await;
    (server, own, clients)
}

async fn call(server: &Running, tls: &TlsConnector) -> Result<(), Refused> {
    let client = Client::connect(server.addr, Some(tls)).await;
    server.acts(client).await
}

#[tokio::test]
async fn clients_that_trust_its_ca_call_it_and_others_do_not() {
    let ca = Ca::new();
    let (server, _own, _) = start(&ca, None).await;
    assert_eq!(server.url, format!("https://{}", server.addr));
    call(&server, &ca.trusting(None)).await.unwrap();
    let error = call(&server, &Ca::new().trusting(None)).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn only_clients_with_a_certificate_of_the_ca_get_a_handshake() {
    let (ca, clients, others) = (Ca::new(), Ca::new(), Ca::new());
    let (server, _own, _clients) = start(&ca, Some(&clients)).await;
    call(&server, &ca.trusting(Some(&clients.client())))
        .await
        .unwrap();
    // A server's certificate of the right CA is no client's, and the server's own CA is another.
    let wrong = [
        None,
        Some(others.client()),
        Some(ca.client()),
        Some(clients.server()),
    ];
    for own in wrong {
        let refused = call(&server, &ca.trusting(own.as_ref())).await;
        refused.expect_err("it was let in");
    }
    call(&server, &ca.trusting(Some(&clients.client())))
        .await
        .unwrap();
}

#[tokio::test]
async fn probes_without_a_client_certificate_have_their_port() {
    let (ca, clients) = (Ca::new(), Ca::new());
    let (mut own, mut trusted) = (Mounted::new(), Mounted::new());
    own.put_identity(&ca.server());
    trusted.put(&[("ca.crt", &clients.pem())]);
    let server = Running::start(|settings| {
        serve_tls(settings, &own);
        settings.client_ca = Some(trusted.path("ca.crt"));
        settings.probes_on = Some(FREE_PORT);
    })
    .await;
    let mut probe = Client::connect(server.probes.unwrap(), None).await.unwrap();
    assert_eq!(probe.get("/readyz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn tokens_and_client_certificates_go_together() {
    let (ca, clients) = (Ca::new(), Ca::new());
    let (mut own, mut trusted) = (Mounted::new(), Mounted::new());
    own.put_identity(&ca.server());
    trusted.put(&[("ca.crt", &clients.pem())]);
    let server = Running::start(|settings| {
        serve_tls(settings, &own);
        settings.client_ca = Some(trusted.path("ca.crt"));
        settings.token = Some("s3cret".into());
    })
    .await;
    let tls = ca.trusting(Some(&clients.client()));
    let error = call(&server, &tls).await.unwrap_err();
    assert!(error.to_string().starts_with("401"), "{error}");
    let mut client = Client::connect(server.addr, Some(&tls)).await.unwrap();
    client.token = Some("s3cret");
    server.acts(Ok(client)).await.unwrap();
}

#[tokio::test]
async fn a_certificate_that_changes_under_load_breaks_no_call() {
    let (old, new) = (Ca::new(), Ca::new());
    let (server, mut own, _) = start(&old, None).await;
    let server = Arc::new(server);
    let (trusting_old, trusting_new) = (old.trusting(None), new.trusting(None));
    let mut kept = Client::connect(server.addr, Some(&trusting_old))
        .await
        .unwrap();
    kept.get("/livez").await;

    // These trust whatever comes first, and from its exchange on what comes then.
    let (stop, answered) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let load: Vec<_> = (0..3)
        .map(|_| {
            let (stop, answered, addr) = (Arc::clone(&stop), Arc::clone(&answered), server.addr);
            let (first, then) = (trusting_old.clone(), trusting_new.clone());
            tokio::spawn(async move {
                let mut tls = &first;
                while !stop.load(Ordering::Relaxed) {
                    let mut client = match Client::connect(addr, Some(tls)).await {
                        Ok(client) => client,
                        Err(_) => {
                            tls = &then;
                            Client::connect(addr, Some(tls)).await.unwrap()
                        }
                    };
                    assert_eq!(client.get("/livez").await.0, StatusCode::OK);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    call(&server, &trusting_new)
        .await
        .expect_err("it is not there yet");
    own.put_identity(&new.server());
    eventually("the new certificate", || async {
        Client::connect(server.addr, Some(&trusting_new))
            .await
            .is_ok()
    })
    .await;
    let before = answered.load(Ordering::Relaxed);
    eventually("calls go on", || async {
        answered.load(Ordering::Relaxed) > before + 10
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    for task in load {
        task.await.unwrap();
    }
    call(&server, &trusting_new).await.unwrap();
    // Who is connected stays so.
    assert_eq!(kept.get("/livez").await.0, StatusCode::OK);
}

#[tokio::test]
async fn clients_of_a_ca_that_was_replaced_are_out() {
    let (ca, old, new) = (Ca::new(), Ca::new(), Ca::new());
    let (server, _own, mut trusted) = start(&ca, Some(&old)).await;
    let (old, new_client) = (
        ca.trusting(Some(&old.client())),
        ca.trusting(Some(&new.client())),
    );
    call(&server, &old).await.unwrap();
    call(&server, &new_client)
        .await
        .expect_err("its CA is not there yet");
    let mut open = Client::connect(server.addr, Some(&old)).await.unwrap();
    let stage = Arc::clone(&server.stage);
    let at_work = tokio::spawn(async move {
        let answer = open.ensure(json!({"do": "wait"})).await;
        open.closed().await;
        answer
    });
    stage.lines(3).await;
    let mut idle = Client::connect(server.addr, Some(&old)).await.unwrap();
    idle.get("/livez").await;

    trusted.put(&[("ca.crt", &new.pem())]);
    // What it had before counts no more: neither a connection nor a session to be resumed.
    idle.closed().await;
    call(&server, &old).await.expect_err("its CA is gone");
    stage.go.add_permits(1);
    let (status, answer) = at_work.await.unwrap().unwrap();
    assert_eq!(
        (status, &answer["status"]),
        (StatusCode::OK, &json!("Succ"))
    );
    call(&server, &new_client).await.unwrap();

    // Several at a time, for those who change over.
    let third = Ca::new();
    trusted.put(&[("ca.crt", &(new.pem() + &third.pem()))]);
    let third = ca.trusting(Some(&third.client()));
    eventually("the third CA", || async {
        call(&server, &third).await.is_ok()
    })
    .await;
    call(&server, &new_client).await.unwrap();
}

#[tokio::test]
async fn broken_files_keep_what_was_and_are_logged_once() {
    let log = CapturedLog::new();
    let (ca, clients) = (Ca::new(), Ca::new());
    let (server, mut own, mut trusted) = start(&ca, Some(&clients)).await;
    let tls = ca.trusting(Some(&clients.client()));
    let good = ca.server();
    let cases = [
        (
            ("nonsense", &*good.key),
            "tls.crt: not PEM with a section CERTIFICATE",
        ),
        (
            (&*good.cert, "nonsense"),
            "tls.key: not PEM with a section PRIVATE KEY",
        ),
        (
            (&*good.cert, &*ca.server().key),
            "tls.key: not the key of the certificate in",
        ),
        (
            (&*good.key, &*good.cert),
            "tls.crt: not PEM with a section CERTIFICATE",
        ),
        (
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                &*good.key,
            ),
            "tls.crt: cannot be used with the key in",
        ),
    ];
    let mut warnings = 0;
    for ((cert, key), complaint) in cases {
        own.put(&[("tls.crt", cert), ("tls.key", key)]);
        warnings += 1;
        eventually(complaint, || async {
            log.count("the certificate stays what it was") == warnings
        })
        .await;
        assert!(log.has(complaint), "{complaint}: {}", log.text());
        call(&server, &tls).await.unwrap();
    }
    trusted.put(&[("ca.crt", "nonsense")]);
    let expected = "the CA of clients stays what it was";
    eventually(expected, || async { log.has(expected) }).await;
    call(&server, &tls).await.unwrap();
    // They are read many more times and reported once.
    tokio::time::sleep(SHORT).await;
    assert_eq!(log.count("stays what it was"), warnings + 1);
    let secret = good.key.lines().nth(1).unwrap();
    assert!(!log.has(secret), "the key is in the log");

    // A broken CA of clients keeps no certificate from being changed, nor the other way round.
    let new = Ca::new();
    own.put_identity(&new.server());
    let tls = new.trusting(Some(&clients.client()));
    eventually("the new certificate", || async {
        call(&server, &tls).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn it_does_not_start_with_broken_files() {
    let ca = Ca::new();
    let mut own = Mounted::new();
    let good = ca.server();
    let start = |own: &Mounted, client_ca: Option<&str>| {
        let mut settings = Settings {
            listen: FREE_PORT,
            client_ca: client_ca.map(|name| own.path(name)),
            ..Settings::default()
        };
        serve_tls(&mut settings, own);
        let server = Server::with(actor().0, settings);
        async { server.bind().await.map(drop) }
    };
    let error = start(&own, None).await.unwrap_err().to_string();
    assert!(
        error.contains("cannot read") && error.contains("tls.crt"),
        "{error}"
    );
    own.put(&[
        ("tls.crt", &good.cert),
        ("tls.key", &ca.server().key),
        ("ca.crt", &good.key),
    ]);
    let error = start(&own, None).await.unwrap_err().to_string();
    assert!(error.contains("not the key of the certificate"), "{error}");
    own.put_identity(&good);
    start(&own, None).await.unwrap();
    let error = start(&own, Some("tls.key")).await.unwrap_err().to_string();
    assert!(
        error.ends_with("tls.key: not PEM with a section CERTIFICATE"),
        "{error}"
    );
}

#[tokio::test]
async fn a_handshake_that_hangs_times_out_and_delays_no_other_client() {
    let ca = Ca::new();
    let mut own = Mounted::new();
    own.put_identity(&ca.server());
    let server = Running::start(|settings| {
        serve_tls(settings, &own);
        settings.max_connections = 4;
        settings.idle_within = LONG;
        settings.handshake_within = SHORT;
    })
    .await;
    let mut silent = Vec::new();
    for begin in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01"] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(begin).await.unwrap();
        silent.push(stream);
    }
    // On a busy machine an honest handshake may miss the limit, too.
    let tls = ca.trusting(None);
    eventually("a call", || async { call(&server, &tls).await.is_ok() }).await;
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = timeout(SOON, stream.read_to_end(&mut rest)).await.unwrap();
    }
}

#[tokio::test]
async fn unfinished_handshakes_do_not_delay_the_shutdown() {
    let ca = Ca::new();
    let mut own = Mounted::new();
    own.put_identity(&ca.server());
    let server = Running::start(|settings| {
        serve_tls(settings, &own);
        settings.handshake_within = LONG;
        settings.shutdown_within = LONG;
    })
    .await;
    let mut half = TcpStream::connect(server.addr).await.unwrap();
    half.write_all(b"\x16\x03\x01").await.unwrap();
    call(&server, &ca.trusting(None)).await.unwrap();
    timeout(SOON, server.stop()).await.unwrap().unwrap();
}

#[tokio::test]
async fn plain_http_gets_a_response_and_garbage_is_closed() {
    let ca = Ca::new();
    let (server, _own, _) = start(&ca, None).await;
    let error = server
        .acts(Ok(server.connect().await))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("400") && error.contains("https://"),
        "{error}"
    );
    for garbage in [&b"\0\0\0\0"[..], b"hello\r\n\r\n", &[0x16; 100_000]] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        let _ = stream.write_all(garbage).await;
        let mut rest = Vec::new();
        let _ = timeout(SOON, stream.read_to_end(&mut rest)).await.unwrap();
        assert!(!rest.starts_with(b"HTTP"));
    }
    call(&server, &ca.trusting(None)).await.unwrap();
}
