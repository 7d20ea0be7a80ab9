//! Bearer tokens: a call without the right token gets 401 before its body is read.

use super::reject::reject;
use super::{ServerError, Settings};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use lbcf_serving::secret::Token;
use lbcf_serving::watched_file::{FileError, WatchedFiles};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// White space around the token is not part of it.
fn read(text: &[u8]) -> Result<Token, &'static str> {
    match text.trim_ascii() {
        [] => Err("it is empty; omit the setting for a driver that requires no token"),
        text => Token::new(text),
    }
}

/// The token that callers must send at the moment.
pub(super) struct TokenAuth {
    current: watch::Receiver<Token>,
    /// Reads the token's file again.
    _watching: Option<AbortOnDropHandle<()>>,
}

impl TokenAuth {
    /// Reads the token, if callers need one; a file is read again as the settings say.
    pub(super) async fn new(settings: &Settings) -> Result<Option<Self>, ServerError> {
        let path = match (&settings.token, &settings.token_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                let problem = "a token and a file of one: set one of the two";
                return Err(ServerError::Settings(problem));
            }
            (Some(token), None) => {
                let token = read(token.0.as_bytes());
                let token = token.map_err(|problem| ServerError::Token { problem })?;
                return Ok(Some(Self {
                    current: watch::channel(token).1,
                    _watching: None,
                }));
            }
            (None, Some(path)) => path.clone(),
        };
        let files = WatchedFiles::new("token", vec![path.clone()], move |contents| {
            read(&contents.concat()).map_err(|problem| FileError::contents(&path, problem))
        });
        let (token, files) = files.load().await?;
        let (change, current) = watch::channel(token);
        let watching = files.watch(settings.reload_every(), move |token| {
            change.send_replace(token);
        });
        Ok(Some(Self {
            current,
            _watching: Some(AbortOnDropHandle::new(tokio::spawn(watching))),
        }))
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        match (given.next().and_then(bearer), given.next()) {
            (Some(given), None) => self.current.borrow().matches(given),
            _ => false,
        }
    }
}

/// The token behind `Bearer `.
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, rest) = value.as_bytes().split_at_checked(b"Bearer".len())?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer") && rest.starts_with(b" ");
    is_bearer.then(|| rest.trim_ascii())
}

struct AuthLayer {
    auth: TokenAuth,
    /// Paths that need no token.
    open: Vec<String>,
}

/// The router behind a check of the token; the paths in `open` need none.
pub(super) fn guarded(router: Router, auth: TokenAuth, open: Vec<String>) -> Router {
    let layer = Arc::new(AuthLayer { auth, open });
    router.layer(from_fn_with_state(layer, check))
}

async fn check(State(layer): State<Arc<AuthLayer>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !layer.open.iter().any(|open| open == path) && !layer.auth.admits(request.headers()) {
        tracing::debug!(path, "a call without the right token");
        let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
        let error = "send the header Authorization: Bearer with this driver's token";
        return (challenge, reject(StatusCode::UNAUTHORIZED, error)).into_response();
    }
    // Not needed any more, so that nothing can log it by mistake.
    request.headers_mut().remove(header::AUTHORIZATION);
    next.run(request).await
}

#[cfg(test)]
mod tests;
