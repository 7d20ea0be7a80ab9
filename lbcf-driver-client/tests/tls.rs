//! Drivers over TLS: who is trusted, who is not, and what errors say.

use super::pki::{Ca, Directory, Pair, TlsServer, config};
use super::sockets::settle;
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings, TlsProblem};
use lbcf_driver_sdk::webhook::Healthz;
use rustls::ALL_VERSIONS;
use rustls::version::{TLS12, TLS13};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

async fn healthz(http: &HttpClient, url: &str) -> Result<bool, CallError> {
    let driver = DriverClient::with_http(http.clone(), url).unwrap();
    Ok(driver.call(&Healthz {}).await?.healthy)
}

fn trusting(ca: &Ca) -> (HttpClient, Directory) {
    let files = Directory::new();
    let ca = files.write("ca.pem", &ca.pem);
    (
        HttpClient::with(HttpClientSettings {
            ca_files: vec![ca],
            ..Default::default()
        })
        .unwrap(),
        files,
    )
}

/// What a call to a driver with this certificate runs into. The driver is not called.
async fn problem(trusted: &Ca, server: &Pair) -> (TlsProblem, String) {
    let server = TlsServer::start(config(server, None, ALL_VERSIONS)).await;
    let (http, _files) = trusting(trusted);
    let error = healthz(&http, &server.url).await.unwrap_err();
    assert!(error.is_connect() && !error.is_timeout(), "{error}");
    assert_eq!(server.log.all(), []);
    let text = error.to_string();
    match error {
        CallError::Tls { problem, .. } => (problem, text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_driver_whose_ca_is_trusted_is_called_over_one_connection() {
    let ca = Ca::new("ours");
    let server = TlsServer::start(config(&ca.good(), None, ALL_VERSIONS)).await;
    let (http, _files) = trusting(&ca);
    for _ in 0..5 {
        assert!(healthz(&http, &server.url).await.unwrap());
        settle().await;
    }
    let connections: Vec<_> = server
        .log
        .all()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [1; 5]);
}

#[tokio::test]
async fn u48_a_certificate_of_an_untrusted_ca_is_refused() {
    let (ours, theirs) = (Ca::new("ours"), Ca::new("theirs"));
    let (found, text) = problem(&ours, &theirs.good()).await;
    assert_eq!(found, TlsProblem::UnknownIssuer);
    assert!(text.contains("no CA that is trusted here signed"), "{text}");
    // The system does not trust it either.
    let server = TlsServer::start(config(&theirs.good(), None, ALL_VERSIONS)).await;
    assert!(healthz(&HttpClient::new(), &server.url).await.is_err());
    assert_eq!(server.log.all(), []);
}

#[tokio::test]
async fn an_expired_certificate_and_one_of_another_host_are_refused() {
    let ca = Ca::new("ours");
    for (server, expected, response) in [
        (
            ca.sign("127.0.0.1", 2001..2002),
            TlsProblem::Expired,
            "has expired",
        ),
        (
            ca.sign("127.0.0.1", 2200..2201),
            TlsProblem::NotYetValid,
            "not valid yet",
        ),
        (
            ca.sign("driver.example", 2020..2200),
            TlsProblem::WrongName,
            "driver.example",
        ),
        (
            ca.sign("127.0.0.2", 2020..2200),
            TlsProblem::WrongName,
            "for other names",
        ),
    ] {
        let (found, text) = problem(&ca, &server).await;
        assert_eq!(found, expected);
        assert!(text.contains(response), "{text}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_sent_and_a_missing_one_is_an_error() {
    let (ours, theirs) = (Ca::new("ours"), Ca::new("theirs"));
    for version in [&TLS12, &TLS13] {
        let server = config(&ours.good(), Some(&ours), &[version]);
        let server = TlsServer::start(server).await;
        let files = Directory::new();
        let ca = files.write("ca.pem", &ours.pem);
        let with = |pair: &Pair| {
            let cert = files.write("tls.crt", &pair.cert);
            let key = files.write("tls.key", &pair.key);
            HttpClient::with(HttpClientSettings {
                ca_files: vec![ca.clone()],
                client_certificate: Some((cert, key)),
                ..Default::default()
            })
            .unwrap()
        };
        let without = HttpClient::with(HttpClientSettings {
            ca_files: vec![ca.clone()],
            ..Default::default()
        })
        .unwrap();
        let stranger = theirs.sign("client", 2020..2200);
        let late = ours.sign("client", 2001..2002);
        for (http, expected) in [
            (without, TlsProblem::ClientCertificateMissing),
            (with(&stranger), TlsProblem::ClientCertificateRefused),
            (with(&late), TlsProblem::ClientCertificateRefused),
        ] {
            let error = healthz(&http, &server.url).await.unwrap_err();
            assert!(error.is_connect(), "{error}");
            match error {
                CallError::Tls { problem, .. } => assert_eq!(problem, expected),
                other => panic!("{version:?}: {expected:?}: {other:?}"),
            }
        }
        assert_eq!(server.log.all(), []);
        let client = ours.sign("client", 2020..2200);
        assert!(healthz(&with(&client), &server.url).await.unwrap());
        assert_eq!(server.log.last().client, Some(client.der()));
    }
}

#[tokio::test]
async fn several_cas_are_trusted_also_with_the_systems() {
    let (one, other) = (Ca::new("one"), Ca::new("other"));
    let files = Directory::new();
    let one_file = files.write("one.pem", &one.pem);
    let other_file = files.write("other.pem", &other.pem);
    let both_file = files.write("both.pem", &format!("{}{}", one.pem, other.pem));
    for (ca_files, trust_system_roots) in [
        (vec![one_file, other_file], false),
        (vec![both_file.clone()], false),
        (vec![both_file], true),
    ] {
        let http = HttpClient::with(HttpClientSettings {
            ca_files,
            trust_system_roots,
            ..Default::default()
        })
        .unwrap();
        for ca in [&one, &other] {
            let server = TlsServer::start(config(&ca.good(), None, ALL_VERSIONS)).await;
            assert!(healthz(&http, &server.url).await.unwrap());
        }
    }
}

#[tokio::test]
async fn https_to_a_plain_http_server_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let response = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        stream.write_all(response).await.unwrap();
        // Until the client hangs up.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    });
    let (http, _files) = trusting(&Ca::new("ours"));
    match healthz(&http, &url).await.unwrap_err() {
        CallError::Tls { problem, .. } => assert_eq!(problem, TlsProblem::NotTls),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn connecting_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let files = Directory::new();
    let http = HttpClient::with(HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &Ca::new("ours").pem)],
        connect_timeout: Some(Duration::from_millis(50)),
        ..Default::default()
    })
    .unwrap();
    let began = Instant::now();
    // The connection is accepted, but the handshake is not answered.
    let error = healthz(&http, &url).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(error.is_timeout() && error.is_connect(), "{error:?}");
    assert!(
        error.to_string().contains("no connection within 50ms"),
        "{error}"
    );
}
