//! The access log: client, request, status and duration. Headers, queries and bodies are left out
//! because they may contain secrets.

use axum::body::Body;
use axum::response::Response;
use http::header::USER_AGENT;
use http::{Method, Request, StatusCode};
use lbcf_serving::listener::GuardedBody;
use tokio::time::Instant;

use super::query::Params;

/// Longer paths and names are cut.
const MAX_CHARACTERS: usize = 512;

/// A request in flight.
#[derive(Debug)]
pub(super) struct AccessLogEntry {
    method: Method,
    path: String,
    user_agent: String,
    watches: bool,
    began: Instant,
}

/// Starts an entry, if debug logs are on.
pub(super) fn begin<B>(request: &Request<B>) -> Option<AccessLogEntry> {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return None;
    }
    let agent = request.headers().get(USER_AGENT);
    let agent = agent.and_then(|value| value.to_str().ok());
    Some(AccessLogEntry {
        method: request.method().clone(),
        path: shortened(request.uri().path()),
        user_agent: shortened(agent.unwrap_or_default()),
        watches: request.method() == Method::GET
            && Params::of(request.uri()).is_ok_and(|params| params.flag("watch")),
        began: Instant::now(),
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_CHARACTERS).collect()
}

impl AccessLogEntry {
    /// Logs the request; a watch is logged again when it ends.
    pub(super) fn end(self, response: Response) -> Response {
        if self.watches && response.status() == StatusCode::OK {
            self.write(StatusCode::OK, "watch begins");
            return response.map(|body| Body::new(GuardedBody::new(body, Watching(self))));
        }
        self.write(response.status(), "request");
        response
    }

    fn write(&self, status: StatusCode, what: &'static str) {
        tracing::debug!(
            method = %self.method,
            path = self.path,
            user_agent = self.user_agent,
            status = status.as_u16(),
            ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            "{what}"
        );
    }
}

struct Watching(AccessLogEntry);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.write(StatusCode::OK, "watch ended");
    }
}
