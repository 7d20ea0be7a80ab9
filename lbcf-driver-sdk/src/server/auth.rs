//! Bearer tokens: who does not have the token is answered with 401 before anything is read.

mod token;

pub(super) use token::{Token, TokenSource};

use super::ServerError;
use super::reject::reject;
use super::reload::FromFiles;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// Knows the token that is asked for at the moment.
pub(super) struct Gate {
    current: watch::Receiver<Token>,
    /// Looks at the token's file.
    _watching: Option<AbortOnDropHandle<()>>,
}

impl Gate {
    /// Reads the token; where it is in a file, that is looked at again at this interval.
    pub(super) async fn new(source: TokenSource, interval: Duration) -> Result<Self, ServerError> {
        let path = match source {
            TokenSource::Given(token) => {
                let (_, current) = watch::channel(token?);
                return Ok(Self {
                    current,
                    _watching: None,
                });
            }
            TokenSource::File(path) => path,
        };
        let make = {
            let path = path.clone();
            move |contents: &[Vec<u8>]| {
                Token::read(&contents.concat()).map_err(|problem| ServerError::Contents {
                    path: path.clone(),
                    problem: problem.into(),
                })
            }
        };
        let mut files = FromFiles::new("token", vec![path], make);
        let (change, current) = watch::channel(files.load().await?);
        let watching = tokio::spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                if let Some(token) = files.look_again().await {
                    change.send_replace(token);
                }
            }
        });
        Ok(Self {
            current,
            _watching: Some(AbortOnDropHandle::new(watching)),
        })
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        match (given.next().and_then(bearer), given.next()) {
            (Some(given), None) => self.current.borrow().is(given),
            _ => false,
        }
    }
}

/// What comes behind `Bearer `.
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, rest) = value.as_bytes().split_at_checked(b"Bearer".len())?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer") && rest.starts_with(b" ");
    is_bearer.then(|| rest.trim_ascii())
}

struct Guard {
    gate: Gate,
    /// Paths that everybody may use.
    open: Vec<String>,
}

/// The router for those who have the token; `open` are the paths that everybody may use.
pub(super) fn guarded(router: Router, gate: Gate, open: Vec<String>) -> Router {
    let guard = Arc::new(Guard { gate, open });
    router.layer(from_fn_with_state(guard, check))
}

async fn check(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !guard.open.iter().any(|open| open == path) && !guard.gate.admits(request.headers()) {
        tracing::debug!(path, "a call without the right token");
        let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
        let error = "send the header Authorization: Bearer with this driver's token";
        return (challenge, reject(StatusCode::UNAUTHORIZED, error)).into_response();
    }
    // From here on nobody needs it, and nobody can show it by mistake.
    request.headers_mut().remove(header::AUTHORIZATION);
    next.run(request).await
}

#[cfg(test)]
mod tests;
