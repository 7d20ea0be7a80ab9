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
        let note = match excluded.contains(&check) {
            true => "excluded: ok",
            false => "ok",
        };
        text.push_str(&format!("[+]{check} {note}\n"));
    }
    let unknown = excluded.iter().filter(|name| !CHECKS.contains(name));
    let unknown: Vec<String> = unknown.map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(",");
        text.push_str(&format!(
            "warn: some health checks cannot be excluded: no matches for {unknown}\n"
        ));
    }
    text + &format!("{endpoint} check passed\n")
}
