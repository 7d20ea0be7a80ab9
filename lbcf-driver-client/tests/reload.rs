//! Files that change while calls go on.

use super::pki::{Ca, Directory, Pair, TlsServer, config};
use super::sockets::{GOOD, response, serve_plain};
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings, TlsProblem};
use lbcf_driver_sdk::webhook::Healthz;
use rustls::ALL_VERSIONS;
use std::time::Duration;

async fn healthz(driver: &DriverClient) -> Result<(), CallError> {
    driver.call(&Healthz {}).await.map(|_| ())
}

fn problem(result: Result<(), CallError>) -> TlsProblem {
    match result {
        Err(CallError::Tls { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_changed_ca_file_is_used_and_old_connections_with_it_are_not() {
    let (old, new) = (Ca::new("old"), Ca::new("new"));
    let server = TlsServer::start(config(&old.good(), None, ALL_VERSIONS)).await;
    let files = Directory::new();
    let http = HttpClient::with(HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &old.pem)],
        reread_files_every: Duration::ZERO,
        ..Default::default()
    })
    .unwrap();
    let driver = DriverClient::with_http(http, &server.url).unwrap();
    healthz(&driver).await.unwrap();
    // The connection is kept, but who vouched for it is no longer trusted.
    files.write("ca.pem", &new.pem);
    assert_eq!(problem(healthz(&driver).await), TlsProblem::UnknownIssuer);
    server.change(config(&new.good(), None, ALL_VERSIONS));
    healthz(&driver).await.unwrap();
    assert_eq!(server.log.all().len(), 2);
    // What is no certificate is not used.
    files.write("ca.pem", "half of one");
    healthz(&driver).await.unwrap();
}

#[tokio::test]
async fn a_changed_client_certificate_is_shown_when_it_is_whole() {
    let ca = Ca::new("ours");
    let server = TlsServer::start(config(&ca.good(), Some(&ca), ALL_VERSIONS)).await;
    let files = Directory::new();
    let write = |pair: &Pair| {
        files.write("tls.crt", &pair.cert);
        files.write("tls.key", &pair.key);
    };
    let (one, two) = (ca.sign("one", 2020..2200), ca.sign("two", 2020..2200));
    write(&one);
    let http = HttpClient::with(HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &ca.pem)],
        client_certificate: Some((files.path("tls.crt"), files.path("tls.key"))),
        reread_files_every: Duration::ZERO,
        ..Default::default()
    })
    .unwrap();
    let driver = DriverClient::with_http(http, &server.url).unwrap();
    healthz(&driver).await.unwrap();
    assert_eq!(server.log.last().client, Some(one.der()));
    // Half of the change is there: the certificate, and not its key.
    files.write("tls.crt", &two.cert);
    healthz(&driver).await.unwrap();
    assert_eq!(server.log.last().client, Some(one.der()));
    write(&two);
    healthz(&driver).await.unwrap();
    assert_eq!(server.log.last().client, Some(two.der()));
}

#[tokio::test]
async fn a_changed_token_is_sent_and_a_damaged_one_is_not() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let files = Directory::new();
    let http = HttpClient::with(HttpClientSettings {
        token_file: Some(files.write("token", "one\n")),
        reread_files_every: Duration::ZERO,
        ..Default::default()
    })
    .unwrap();
    let driver = DriverClient::with_http(http, &format!("http://127.0.0.1:{port}")).unwrap();
    for (written, sent) in [
        ("one\n", "one"),
        ("two", "two"),
        ("a b", "two"),
        ("", "two"),
    ] {
        files.write("token", written);
        healthz(&driver).await.unwrap();
        assert_eq!(log.last().token().unwrap(), format!("bearer {sent}"));
    }
}
