//! The table of endpoints, and the document that follows from it.

use super::*;
use crate::{ClbDriver, Cloud, MockOptions};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use tower::ServiceExt;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/lbcf-mock.json");

#[test]
fn openapi_document_is_up_to_date() {
    let generated = serde_json::to_string_pretty(&openapi::document(ENDPOINTS)).unwrap() + "\n";
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(FILE, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        checked_in == generated,
        "openapi/lbcf-mock.json is out of date; rewrite it with\n\
         UPDATE_OPENAPI=1 cargo test -p mock-driver openapi"
    );
}

#[tokio::test]
async fn openapi_paths_are_the_routes() {
    let driver = ClbDriver::new(Cloud::with_samples(), MockOptions::default());
    let router = crate::router(driver);
    for endpoint in ENDPOINTS {
        // Wrong in every endpoint that reads one, so that none waits or changes much.
        let path = endpoint
            .path
            .replace("{id}", "none")
            .replace("{number}", "none");
        let uri = format!("/_mock{path}?timeout=0");
        let request = Request::builder()
            .method(&*endpoint.method.to_uppercase())
            .uri(uri);
        let request = request.body(Body::from("[{}]")).unwrap();
        let status = router.clone().oneshot(request).await.unwrap().status();
        let is_known = match status {
            // Without a cluster, there is nothing to compare with.
            StatusCode::NOT_FOUND => endpoint.path.contains('{') || path == "/differences",
            status => status != StatusCode::METHOD_NOT_ALLOWED,
        };
        assert!(is_known, "{} {path}: {status}", endpoint.method);
    }
}

#[test]
fn openapi_has_a_schema_for_every_reference_and_every_query() {
    let document = openapi::document(ENDPOINTS);
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let parameters = &document["paths"]["/_mock/requests"]["get"]["parameters"];
    let names: Vec<_> = parameters
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    for name in [
        "webhook",
        "recordID",
        "loadBalancer",
        "since",
        "bodies",
        "count",
        "timeout",
    ] {
        assert!(names.contains(&name.into()), "{name}: {names:?}");
    }
    assert!(text.contains("loseAnswer") && text.contains("retryAfter"));
}
