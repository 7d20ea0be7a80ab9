//! `GET /metrics`.

use crate::server::contain::contain_call;
use crate::server::reject::reject;
use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};

/// All registered metrics, in Prometheus' text format.
pub(in crate::server) fn router(registry: Registry) -> Router {
    Router::new().route("/metrics", get(move || async move { scrape(&registry) }))
}

fn scrape(registry: &Registry) -> Response {
    // The application's collectors run here too.
    let text = contain_call(|| TextEncoder::new().encode_to_string(&registry.gather()));
    let problem = match text {
        Ok(Ok(text)) => {
            let text_format = HeaderValue::from_static(TEXT_FORMAT);
            return ([(header::CONTENT_TYPE, text_format)], text).into_response();
        }
        Ok(Err(error)) => error.to_string(),
        Err(panic) => {
            tracing::error!(panic = panic.text(), "a collector of metrics panicked");
            "a collector panicked, see the log".to_owned()
        }
    };
    let problem = format!("the metrics cannot be written: {problem}");
    reject(StatusCode::INTERNAL_SERVER_ERROR, problem).into_response()
}
