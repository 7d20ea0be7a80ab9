//! Addresses that a client may not connect to, and the ways around that.

use super::pki::{Ca, Directory, TlsServer, config};
use super::sockets::{GOOD, Log, response, serve_plain, settle};
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings};
use lbcf_driver_sdk::webhook::Healthz;
use rustls::ALL_VERSIONS;
use std::net::IpAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

async fn call(http: &HttpClient, url: &str) -> Result<(), CallError> {
    let driver = DriverClient::with_http(http.clone(), url).unwrap();
    driver.call(&Healthz {}).await.map(|_| ())
}

fn no_loopback(scheme: &str, address: IpAddr) -> Result<(), String> {
    match address.to_canonical().is_loopback() {
        true => Err(format!("not {address} with {scheme}")),
        false => Ok(()),
    }
}

#[track_caller]
fn assert_refused(result: Result<(), CallError>, url: &str, scheme: &str, log: &Log) {
    match result.unwrap_err() {
        CallError::NotSent(error) => {
            let error = error.to_string();
            assert!(error.ends_with(&format!("with {scheme}")), "{url}: {error}");
        }
        other => panic!("{url}: {other:?}"),
    }
    assert!(log.all().is_empty(), "{url}");
}

#[tokio::test]
async fn d106_no_spelling_of_a_refused_address_is_connected_to() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let http = HttpClient::new().with_address_check(no_loopback);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "localhost",
        "LOCALHOST",
        "user:password@127.0.0.1",
    ] {
        let url = format!("http://{host}:{port}");
        assert_refused(call(&http, &url).await, &url, "http", &log);
    }
    let ca = Ca::new("ours");
    let server = TlsServer::start(config(&ca.good(), None, ALL_VERSIONS)).await;
    let files = Directory::new();
    let settings = HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &ca.pem)],
        ..Default::default()
    };
    let trusting = HttpClient::with(settings).unwrap();
    call(&trusting, &server.url).await.unwrap();
    let http = trusting.with_address_check(no_loopback);
    assert_refused(call(&http, &server.url).await, &server.url, "https", &log);
    assert_eq!(server.log.all().len(), 1);
    // The settings are kept.
    let http = trusting.with_address_check(|_, _| Ok(()));
    call(&http, &server.url).await.unwrap();
}

#[tokio::test]
async fn d106_each_resolution_is_checked_and_connections_of_others_are_not_used() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let url = format!("http://localhost:{port}");
    let others = HttpClient::new();
    call(&others, &url).await.unwrap();
    settle().await;
    // As if the name had other addresses the second time.
    let calls = Arc::new(AtomicUsize::new(0));
    let settings = HttpClientSettings {
        idle_connections_per_host: 0,
        ..Default::default()
    };
    let counted = Arc::clone(&calls);
    let http = HttpClient::with(settings).unwrap();
    let http = http.with_address_check(move |scheme, address| {
        match counted.fetch_add(1, Ordering::SeqCst) {
            // A name may have two addresses.
            0 | 1 => Ok(()),
            _ => no_loopback(scheme, address),
        }
    });
    call(&http, &url).await.unwrap();
    calls.store(2, Ordering::SeqCst);
    let error = call(&http, &url).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)), "{error:?}");
    assert_eq!(log.all().len(), 2);
    // A redirect is no way around either (u50), nor a connection of a client that may.
    let http = others.with_address_check(no_loopback);
    assert!(call(&http, &url).await.is_err());
    assert_eq!(log.all().len(), 2);
}

/// Runs itself in a process with variables that name a proxy.
#[tokio::test]
async fn d106_a_proxy_of_the_environment_is_not_used() {
    const URL: &str = "LBCF_TEST_DRIVER_URL";
    if let Ok(url) = std::env::var(URL) {
        return call(&HttpClient::new(), &url).await.unwrap();
    }
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let (proxy, of_proxy) = serve_plain(response("200 OK", GOOD)).await;
    let proxy = format!("http://127.0.0.1:{proxy}");
    let name = "addresses::d106_a_proxy_of_the_environment_is_not_used";
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args([name, "--exact"]).stdout(Stdio::null());
    for variable in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        child.env(variable, &proxy);
    }
    child.env(URL, format!("http://127.0.0.1:{port}"));
    assert!(child.status().await.unwrap().success());
    assert_eq!((log.all().len(), of_proxy.all().len()), (1, 0));
}
