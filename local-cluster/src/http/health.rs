//! `/healthz`, `/livez` and `/readyz`. Everything runs in one process: a server that responds is
//! healthy.

use axum::response::Response;
use http::StatusCode;

use super::query::Params;
use super::response;

/// The checks that have a path of their own.
const CHECKS: [&str; 4] = [
    "ping",
    "log",
    "etcd",
    "poststarthook/start-apiextensions-controllers",
];

/// Responds for `endpoint`, or for one of its checks.
pub(super) fn respond(endpoint: &str, check: &str, params: &Params) -> Response {
    if !check.is_empty() && !CHECKS.contains(&check) {
        return response::page_not_found();
    }
    let text = if check.is_empty() && params.has("verbose") {
        verbose(endpoint, &params.all("exclude"))
    } else {
        "ok".to_owned()
    };
    response::bytes(StatusCode::OK, "text/plain; charset=utf-8", text)
}

fn verbose(endpoint: &str, excluded: &[&str]) -> String {
    let mut text = String::new();
    for check in CHECKS {
        let how = if excluded.contains(&check) {
            "excluded: ok"
        } else {
            "ok"
        };
        text.push_str(&format!("[+]{check} {how}\n"));
    }
    let unknown: Vec<String> = excluded
        .iter()
        .filter(|name| !CHECKS.contains(name))
        .map(|name| format!("{name:?}"))
        .collect();
    if !unknown.is_empty() {
        text.push_str(&format!(
            "warn: some health checks cannot be excluded: no matches for {}\n",
            unknown.join(",")
        ));
    }
    text.push_str(&format!("{endpoint} check passed\n"));
    text
}
