//! Serves the specification, as JSON and as a page.

use crate::{Driver, openapi};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::routing::get;
use utoipa::openapi::{OpenApi, Server};

const DOCUMENT: &str = "/openapi.json";

/// The document of a driver whose webhooks are nested at `path_prefix`.
pub(super) fn of_driver(driver: &impl Driver, path_prefix: &str) -> OpenApi {
    let mut document = openapi::document_for(driver);
    // Relative to the document's URL, which is known to reach the driver.
    let prefix = path_prefix.trim_matches('/');
    document.servers = Some(vec![Server::new(format!("/{prefix}"))]);
    document
}

/// `GET /openapi.json` and, with the feature `swagger-ui`, the page, which shows `others`, too: each a title
/// and a URL.
pub(super) fn router(document: OpenApi, others: &[(&'static str, &'static str)]) -> Router {
    let text = match document.to_json() {
        Ok(text) => Bytes::from(text),
        Err(error) => {
            tracing::error!(%error, "the OpenAPI document cannot be written");
            return Router::new();
        }
    };
    let json = HeaderValue::from_static("application/json");
    let document = get(move || async move { ([(header::CONTENT_TYPE, json)], text) });
    Router::new().route(DOCUMENT, document).merge(page(others))
}

#[cfg(feature = "swagger-ui")]
fn page(others: &[(&'static str, &'static str)]) -> Router {
    use utoipa_swagger_ui::{Config, SwaggerUi, Url};
    let config = match others {
        [] => Config::from(DOCUMENT),
        _ => {
            let others = others.iter().map(|(title, url)| Url::new(title, url));
            Config::new([Url::new("Webhooks", DOCUMENT)].into_iter().chain(others))
        }
    };
    let config = config
        // The default sends the document's URL to a host on the internet.
        .validator_url("none");
    Router::from(SwaggerUi::new("/docs").config(config))
}

#[cfg(not(feature = "swagger-ui"))]
fn page(_others: &[(&'static str, &'static str)]) -> Router {
    Router::new()
}
