//! The webhooks as routes: bodies in, bodies out, limits on both.

use super::admit;
use super::ask::Asking;
use super::deadline::{Deadline, patience};
use super::known::Known;
use super::refusal::shortened;
use super::review;
use super::table::{HOOKS, Hook};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

/// The API server takes objects of up to 3 MiB, and an update holds two of them.
const BODY_LIMIT: usize = 8 << 20;

/// How many requests are worked on at a time; more wait for their turn.
const IN_FLIGHT: usize = 512;

/// How long before the API server hangs up the last word is said, if drivers and lookups did not
/// give up by themselves.
const LAST_WORD: Duration = Duration::from_millis(100);

/// How much is said about a request that is none.
const PROBLEM_LIMIT: usize = 500;

/// What a request that is no proper question is answered with: a status and a text.
type Unanswerable = (StatusCode, String);

pub(super) fn routes<S: Known>(state: &Arc<S>) -> Router {
    let turns = Arc::new(Semaphore::new(IN_FLIGHT));
    HOOKS.iter().fold(Router::new(), |router, hook| {
        let served = Served {
            state: Arc::clone(state),
            turns: Arc::clone(&turns),
            hook,
        };
        let route = post(serve::<S>).fallback(not_a_post).with_state(served);
        let router = match hook.alias {
            Some(alias) => router.route(alias, route.clone()),
            None => router,
        };
        router.route(hook.path, route)
    })
}

struct Served<S> {
    state: Arc<S>,
    turns: Arc<Semaphore>,
    hook: &'static Hook,
}

impl<S> Clone for Served<S> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            turns: Arc::clone(&self.turns),
            hook: self.hook,
        }
    }
}

async fn serve<S: Known>(State(served): State<Served<S>>, request: Request) -> Response {
    let deadline = Deadline::after(patience(request.uri().query()));
    let answer = timeout_at(deadline.at() + LAST_WORD, served.answer(request, deadline)).await;
    let answer = answer.unwrap_or_else(|_| {
        Err((
            StatusCode::REQUEST_TIMEOUT,
            "the request was not there, or not answered, in the time that its timeout allows"
                .into(),
        ))
    });
    match answer {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(unanswerable) => {
            tracing::warn!(path = served.hook.path, status = %unanswerable.0, error = unanswerable.1, "not an admission request");
            unanswerable.into_response()
        }
    }
}

async fn not_a_post() -> Unanswerable {
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "the API server POSTs AdmissionReviews of admission.k8s.io/v1 here".into(),
    )
}

impl<S: Known> Served<S> {
    async fn answer(&self, request: Request, deadline: Deadline) -> Result<Vec<u8>, Unanswerable> {
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        let (parts, body) = request.into_parts();
        check_type(&parts.headers)?;
        let body = read_body(body).await?;
        let request = review::read(&body, &self.hook.kind.names()).map_err(bad)?;
        drop(body);
        let ask = Asking {
            state: &*self.state,
            deadline,
            is_dry_run: request.dry_run.unwrap_or(false),
        };
        let answer = admit::answer(self.hook, &request, &ask).await;
        if let review::Answer::Denied(denial) = &answer {
            tracing::info!(
                path = self.hook.path,
                operation = request.operation,
                namespace = request.namespace,
                reason = denial.told(),
                "denied"
            );
        }
        review::write(&request.uid, &answer)
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }
}

fn bad(problem: String) -> Unanswerable {
    (StatusCode::BAD_REQUEST, shortened(problem, PROBLEM_LIMIT))
}

fn check_type(headers: &HeaderMap) -> Result<(), Unanswerable> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = content_type.to_str().unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(bad(format!(
        "content-type: {content_type:?}: must be application/json"
    )))
}

async fn read_body(body: Body) -> Result<Bytes, Unanswerable> {
    to_bytes(body, BODY_LIMIT).await.map_err(|error| {
        let mut cause: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = cause {
            if error.is::<http_body_util::LengthLimitError>() {
                return (
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("the body has more than {BODY_LIMIT} bytes"),
                );
            }
            cause = error.source();
        }
        bad(format!("the body broke off: {error}"))
    })
}

#[cfg(test)]
mod tests;
