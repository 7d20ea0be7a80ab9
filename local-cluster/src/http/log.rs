//! What is noted of each request: who asked for what, and what came of it. Headers, queries and
//! bodies are not, as there may be secrets in them.

use axum::response::Response;
use http::header::USER_AGENT;
use http::{Method, Request, StatusCode};
use tokio::time::Instant;

use super::guarded::with_guard;
use super::query::Params;

/// As much of an address or a name as is noted.
const MAX_CHARACTERS: usize = 512;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Entry {
    method: Method,
    path: String,
    user_agent: String,
    watches: bool,
    began: Instant,
}

/// Notes a request, if anybody reads of it.
pub(super) fn begin<B>(request: &Request<B>) -> Option<Entry> {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return None;
    }
    let agent = request.headers().get(USER_AGENT);
    let agent = agent.and_then(|value| value.to_str().ok());
    Some(Entry {
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

impl Entry {
    /// Writes the line, and for a watch another one when it ends.
    pub(super) fn end(self, response: Response) -> Response {
        if self.watches && response.status() == StatusCode::OK {
            self.write(StatusCode::OK, "watch begins");
            return response.map(|body| with_guard(body, Watching(self)));
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

struct Watching(Entry);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.write(StatusCode::OK, "watch ended");
    }
}
