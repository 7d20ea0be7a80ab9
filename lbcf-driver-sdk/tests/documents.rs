//! The OpenAPI document that a driver serves, and the page to read it.

use crate::support::{actor, ok, send};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use lbcf_driver_sdk::server::{DriverRouter, Server, Settings};
use lbcf_driver_sdk::webhook::ALL;
use serde_json::{Value, json};
use std::io::Read;

fn served(path_prefix: &str) -> Router {
    let driver = DriverRouter::new(actor().0);
    let documents = driver.documents_router(path_prefix);
    if path_prefix.is_empty() {
        documents.merge(driver.build())
    } else {
        documents.nest(path_prefix, driver.build())
    }
}

async fn get(router: &Router, path: &str) -> (StatusCode, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = send(router, request).await;
    let status = response.status();
    let compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let mut text = String::new();
    if compressed {
        let mut plain = flate2::read::GzDecoder::new(&body[..]);
        plain.read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(body.to_vec()).unwrap();
    }
    (status, text)
}

#[tokio::test]
async fn the_paths_of_the_document_reach_the_webhooks() {
    for prefix in ["", "/lbcf", "/clb/v1"] {
        let router = served(prefix);
        let (status, text) = get(&router, "/openapi.json").await;
        assert_eq!(status, StatusCode::OK);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let server = document["servers"][0]["url"].as_str().unwrap();
        for webhook in ALL {
            let path = format!("/{}", webhook.name);
            assert!(document["paths"][&path].is_object(), "{path}");
        }
        let healthz = format!("{}/healthz", server.trim_end_matches('/'));
        assert_eq!(ok(&router, &healthz, &json!({})).await["healthy"], true);
    }
}

#[tokio::test]
async fn a_prefix_is_written_in_one_way() {
    for prefix in ["lbcf", "/lbcf", "/lbcf/"] {
        let documents = DriverRouter::new(actor().0).documents_router(prefix);
        let (_, text) = get(&documents, "/openapi.json").await;
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["servers"], json!([{"url": "/lbcf"}]));
    }
}

#[cfg(feature = "swagger-ui")]
#[tokio::test]
async fn the_page_sends_requests_only_to_the_driver() {
    let router = served("/lbcf");
    for path in ["/docs/", "/docs/swagger-initializer.js", "/docs/index.css"] {
        let (status, text) = get(&router, path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(!text.contains("http://"), "{path}: {text}");
        assert!(!text.contains("https://"), "{path}: {text}");
        assert!(!text.contains("\"//"), "{path}: {text}");
    }
    let (_, config) = get(&router, "/docs/swagger-initializer.js").await;
    assert!(config.contains("\"/openapi.json\""), "{config}");
    assert!(config.contains("\"validatorUrl\": \"none\""), "{config}");
    let (status, script) = get(&router, "/docs/swagger-ui-bundle.js").await;
    assert_eq!(status, StatusCode::OK);
    assert!(script.len() > 100_000);
}

#[cfg(feature = "swagger-ui")]
#[tokio::test]
async fn the_page_shows_further_documents() {
    let others = [("Administration", "/admin/openapi.json")];
    let router = DriverRouter::new(actor().0).documents_router_with("/lbcf", &others);
    let (_, config) = get(&router, "/docs/swagger-initializer.js").await;
    for part in [
        "\"/openapi.json\"",
        "\"Administration\"",
        "\"/admin/openapi.json\"",
        "\"validatorUrl\": \"none\"",
    ] {
        assert!(config.contains(part), "{part}: {config}");
    }
    let (status, _) = get(&router, "/openapi.json").await;
    assert_eq!(status, StatusCode::OK);
}

#[cfg(not(feature = "swagger-ui"))]
#[tokio::test]
async fn without_the_feature_there_is_no_page() {
    let (status, _) = get(&served("/lbcf"), "/docs/").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// What a server below `/lbcf` serves.
async fn serving(change: impl FnOnce(&mut Settings)) -> Router {
    let mut settings = Settings {
        path_prefix: "/lbcf".into(),
        ..Settings::default()
    };
    change(&mut settings);
    let server = Server::with(actor().0, settings);
    server.into_router().await.unwrap()
}

#[tokio::test]
async fn routes_of_the_driver_are_served_below_the_prefix_behind_the_token() {
    let version = axum::routing::get(|| async { "1.0" });
    let routes = Router::new().route("/_version", version);
    let open = serving(|settings| settings.routes = routes.clone()).await;
    let found = get(&open, "/lbcf/_version").await;
    assert_eq!(found, (StatusCode::OK, "1.0".to_owned()));
    assert_eq!(get(&open, "/_version").await.0, StatusCode::NOT_FOUND);
    let guarded = serving(|settings| {
        settings.routes = routes;
        settings.token = Some("sesame".into());
    });
    let refused = get(&guarded.await, "/lbcf/_version").await.0;
    assert_eq!(refused, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_conformance_fixture_is_served_below_the_prefix_behind_the_token() {
    const PATH: &str = "/lbcf/.well-known/lbcf/conformance";
    let off = get(&serving(|_| ()).await, PATH).await.0;
    assert_eq!(off, StatusCode::NOT_FOUND, "off unless given");

    let text = "kind: ConformanceFixture\n";
    let router = serving(|settings| settings.conformance_fixture = Some(text.into())).await;
    assert_eq!(get(&router, PATH).await, (StatusCode::OK, text.to_owned()));

    let guarded = serving(|settings| {
        settings.conformance_fixture = Some(text.into());
        settings.token = Some("sesame".into());
    });
    assert_eq!(get(&guarded.await, PATH).await.0, StatusCode::UNAUTHORIZED);
}
