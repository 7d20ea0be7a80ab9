//! The routes of the admission webhooks, and the limits of requests.

use super::admit;
use super::cluster_reader::ClusterReader;
use super::denial::shortened;
use super::review;
use super::table::{HOOKS, Hook};
use super::validation_context::{Deadline, ValidationContext, request_timeout};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

/// Bytes. The API server accepts objects of up to 3 MiB, and an update contains two of them.
const BODY_LIMIT: usize = 8 << 20;

/// Requests that are processed concurrently; further ones wait.
const IN_FLIGHT: usize = 512;

/// Time after the deadline at which the request is answered even if a lookup or call has not ended.
const GRACE: Duration = Duration::from_millis(100);

/// The longest message about a malformed request, in characters.
const PROBLEM_LIMIT: usize = 500;

/// The response to a request that is not an admission review.
type BadRequest = (StatusCode, String);

pub(super) fn routes<S: ClusterReader>(state: &Arc<S>) -> Router {
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT));
    let router = HOOKS.iter().fold(Router::new(), |router, hook| {
        let endpoint = Arc::new(WebhookEndpoint {
            state: Arc::clone(state),
            in_flight: Arc::clone(&in_flight),
            hook,
        });
        let route = post(serve::<S>).fallback(not_a_post).with_state(endpoint);
        let router = match hook.alias {
            Some(alias) => router.route(alias, route.clone()),
            None => router,
        };
        router.route(hook.path, route)
    });
    router.layer(DefaultBodyLimit::max(BODY_LIMIT))
}

struct WebhookEndpoint<S> {
    state: Arc<S>,
    in_flight: Arc<Semaphore>,
    hook: &'static Hook,
}

async fn serve<S: ClusterReader>(
    State(endpoint): State<Arc<WebhookEndpoint<S>>>,
    request: Request,
) -> Response {
    let deadline = Deadline::after(request_timeout(request.uri().query()));
    let response = timeout_at(deadline.at + GRACE, endpoint.respond(request, deadline)).await;
    let response = response.unwrap_or_else(|_| {
        Err((
            StatusCode::REQUEST_TIMEOUT,
            "the request was not received or not answered within its timeout".into(),
        ))
    });
    match response {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(bad_request) => {
            tracing::warn!(path = endpoint.hook.path, status = %bad_request.0, error = bad_request.1, "not an admission request");
            bad_request.into_response()
        }
    }
}

async fn not_a_post() -> BadRequest {
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "only POST of an AdmissionReview of admission.k8s.io/v1 is allowed".into(),
    )
}

impl<S: ClusterReader> WebhookEndpoint<S> {
    async fn respond(&self, request: Request, deadline: Deadline) -> Result<Vec<u8>, BadRequest> {
        // The semaphore is never closed.
        let _permit = self.in_flight.acquire().await;
        check_content_type(request.headers())?;
        let body = Bytes::from_request(request, &()).await;
        let body = body.map_err(|error| (error.status(), error.body_text()))?;
        let request = review::read(&body, &self.hook.kind.resource()).map_err(bad)?;
        drop(body);
        let context = ValidationContext {
            cluster: &*self.state,
            deadline,
            request_is_dry_run: request.dry_run.unwrap_or(false),
        };
        let decision = admit::admit(self.hook, &request, &context).await;
        if let review::AdmissionDecision::Denied(denial) = &decision {
            tracing::info!(
                path = self.hook.path,
                operation = request.operation,
                namespace = request.namespace,
                reason = denial.client_message(),
                "denied"
            );
        }
        review::write(&request.uid, &decision)
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }
}

fn bad(problem: String) -> BadRequest {
    (StatusCode::BAD_REQUEST, shortened(problem, PROBLEM_LIMIT))
}

fn check_content_type(headers: &HeaderMap) -> Result<(), BadRequest> {
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

#[cfg(test)]
mod tests;
