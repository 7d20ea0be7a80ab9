//! The requests that carry the token, and those that must not.

use super::pki::{Ca, Directory, TlsServer, config};
use super::sockets::{GOOD, response, serve_plain};
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings};
use lbcf_driver_sdk::webhook::Healthz;
use rustls::ALL_VERSIONS;

const TOKEN: &str = "tok-123";

/// What this machine calls itself, and what is no loopback address.
const ELSEWHERE: &str = "0.0.0.0";

async fn call(http: &HttpClient, url: &str) -> Result<(), CallError> {
    let driver = DriverClient::with_http(http.clone(), url).unwrap();
    driver.call(&Healthz {}).await.map(|_| ())
}

#[tokio::test]
async fn the_token_is_sent_over_https_and_to_this_machine() {
    let ca = Ca::new("ours");
    let server = TlsServer::start(config(&ca.good(), None, ALL_VERSIONS)).await;
    let files = Directory::new();
    let http = HttpClient::with(HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &ca.pem)],
        token: Some(TOKEN.into()),
        ..Default::default()
    })
    .unwrap();
    call(&http, &server.url).await.unwrap();
    assert_eq!(server.log.last().token(), Some("bearer tok-123"));
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    call(&http, &format!("http://127.0.0.1:{port}"))
        .await
        .unwrap();
    assert_eq!(log.last().token(), Some("bearer tok-123"));
}

#[tokio::test]
async fn the_token_is_not_sent_where_others_could_read_it_unless_that_is_allowed() {
    let page = r#"{"error": "who are you?"}"#;
    let (port, log) = serve_plain(response("401 Unauthorized", page)).await;
    let url = format!("http://{ELSEWHERE}:{port}");
    let http = HttpClient::with(HttpClientSettings {
        token: Some(TOKEN.into()),
        ..Default::default()
    })
    .unwrap();
    let error = call(&http, &url).await.unwrap_err();
    assert_eq!(log.last().token(), None);
    assert_eq!(
        error.to_string(),
        "the driver answered with HTTP status 401, expected 200: who are you? \
         (the token was not sent: plain http to another machine, where others could read it)"
    );
    let http = HttpClient::with(HttpClientSettings {
        token: Some(TOKEN.into()),
        allow_token_over_http: true,
        ..Default::default()
    });
    let error = call(&http.unwrap(), &url).await.unwrap_err();
    assert_eq!(log.last().token(), Some("bearer tok-123"));
    assert!(error.to_string().ends_with(": who are you?"), "{error}");
}

#[tokio::test]
async fn other_errors_do_not_speak_of_the_token() {
    let (port, _) = serve_plain(response("500 Oh", "")).await;
    let http = HttpClient::with(HttpClientSettings {
        token: Some(TOKEN.into()),
        ..Default::default()
    })
    .unwrap();
    let error = call(&http, &format!("http://{ELSEWHERE}:{port}")).await;
    let error = error.unwrap_err().to_string();
    assert!(!error.contains("token"), "{error}");
}

#[tokio::test]
async fn user_and_password_of_the_url_win_over_the_token() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let http = HttpClient::with(HttpClientSettings {
        token: Some(TOKEN.into()),
        ..Default::default()
    })
    .unwrap();
    call(&http, &format!("http://me:p@127.0.0.1:{port}"))
        .await
        .unwrap();
    // "me:p"
    assert_eq!(log.last().token(), Some("basic bwu6ca=="));
}

#[test]
fn the_token_is_never_shown() {
    let settings = HttpClientSettings {
        token: Some(TOKEN.into()),
        ..Default::default()
    };
    let shown = format!("{settings:?}");
    assert!(!shown.contains(TOKEN), "{shown}");
    let http = HttpClient::with(settings).unwrap();
    let driver = DriverClient::with_http(http.clone(), "https://driver").unwrap();
    assert!(!format!("{http:?}{driver:?}").contains(TOKEN));
    let error = HttpClient::with(HttpClientSettings {
        token: Some("tok 123".into()),
        ..Default::default()
    })
    .unwrap_err();
    assert!(!format!("{error:?}{error}").contains("123"));
    assert!(error.to_string().contains("character"), "{error}");
    let files = Directory::new();
    let path = files.write("token", "tok 123");
    let error = HttpClient::with(HttpClientSettings {
        token_file: Some(path.clone()),
        ..Default::default()
    })
    .unwrap_err();
    let text = format!("{error:?}{error}");
    assert!(!text.contains("tok 123"), "{text}");
    assert!(error.to_string().starts_with(&path.display().to_string()));
}
