//! The specification as the driver serves it: for programs, and as a page for people.

use crate::{RawDriver, openapi};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::routing::get;
use utoipa::openapi::{OpenApi, Server};

const DOCUMENT: &str = "/openapi.json";

/// The document of a driver whose webhooks are nested at `path_prefix`.
pub(super) fn of_driver(driver: &impl RawDriver, path_prefix: &str) -> OpenApi {
    let mut document = openapi::document_for(driver);
    // Relative to where the document is found: whoever reads it has reached the driver there.
    let prefix = path_prefix.trim_matches('/');
    document.servers = Some(vec![Server::new(format!("/{prefix}"))]);
    document
}

/// `GET /openapi.json` and, where it is compiled in, the page.
pub(super) fn router(document: OpenApi) -> Router {
    // Written once: it does not change.
    let text = match document.to_json() {
        Ok(text) => Bytes::from(text),
        Err(error) => {
            // What utoipa makes it writes.
            tracing::error!(%error, "the OpenAPI document cannot be written");
            return Router::new();
        }
    };
    let json = HeaderValue::from_static("application/json");
    let document = get(move || async move { ([(header::CONTENT_TYPE, json)], text) });
    Router::new().route(DOCUMENT, document).merge(page())
}

#[cfg(feature = "swagger-ui")]
fn page() -> Router {
    use utoipa_swagger_ui::{Config, SwaggerUi};
    let config = Config::from(DOCUMENT)
        // The default asks a host on the internet about the document.
        .validator_url("none");
    Router::from(SwaggerUi::new("/docs").config(config))
}

#[cfg(not(feature = "swagger-ui"))]
fn page() -> Router {
    Router::new()
}
