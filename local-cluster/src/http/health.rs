//! `/healthz`, `/livez` and `/readyz`. Everything here is in one process: if it answers, it is well.

use axum::response::Response;
use http::StatusCode;

use super::answer;
use super::query::Params;

/// The checks that have an address of their own.
const CHECKS: [&str; 4] = [
    "ping",
    "log",
    "etcd",
    "poststarthook/start-apiextensions-controllers",
];

/// What is answered at `endpoint`, or for one check of it.
pub(super) fn answer(endpoint: &str, check: &str, params: &Params) -> Response {
    if !check.is_empty() && !CHECKS.contains(&check) {
        return answer::page_not_found();
    }
    let text = if check.is_empty() && params.has("verbose") {
        verbose(endpoint, &params.all("exclude"))
    } else {
        "ok".to_owned()
    };
    answer::bytes(StatusCode::OK, "text/plain; charset=utf-8", text)
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
