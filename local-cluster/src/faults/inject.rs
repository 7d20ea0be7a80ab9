//! Applies faults around a request.

use std::future::Future;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::StatusCode;
use tokio_util::sync::CancellationToken;

use super::Faults;
use super::fault::{Effect, FaultAction};
use super::request::{RequestInfo, Verb};
use super::watch_body::{self, PlannedEnd, WatchBody};

/// A connection that ends without a response: an extension of the response in process, and the error
/// of a server's service.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault was injected")]
pub(crate) struct Disconnect;

impl Faults {
    /// Runs `handler`, unless a fault prevents it, with the faults that match the request.
    pub(crate) async fn apply<E>(
        &self,
        request: &RequestInfo<'_>,
        handler: impl Future<Output = Result<Response, E>>,
    ) -> Result<Response, E> {
        let effects = self.select(request);
        for (effect, ended) in &effects {
            if let Effect::Before(action) = effect
                && let Some(response) = perform(action, ended, request).await
            {
                return Ok(response);
            }
        }
        let mut result = handler.await;
        for (effect, ended) in &effects {
            if let Effect::After(action) = effect
                && let Some(response) = perform(action, ended, request).await
            {
                result = Ok(response);
            }
        }
        let is_watch = request.verb == Verb::Watch;
        result.map(|response| {
            if !is_watch || response.status() != StatusCode::OK {
                return response;
            }
            let planned = effects.iter().find_map(|(effect, ended)| match effect {
                Effect::Watch(end, after) => Some(PlannedEnd {
                    end: *end,
                    after: *after,
                    cancelled: ended.clone(),
                }),
                _ => None,
            });
            let watch = watch_body::register(&self.0.watches, request);
            response.map(|body| Body::new(WatchBody::new(body, watch, planned)))
        })
    }
}

/// Waits, or returns the response to send instead.
async fn perform(
    action: &FaultAction,
    ended: &CancellationToken,
    request: &RequestInfo<'_>,
) -> Option<Response> {
    match action {
        FaultAction::Delay(time) => {
            tokio::select! {
                () = tokio::time::sleep(*time) => {}
                () = ended.cancelled() => {}
            }
            None
        }
        FaultAction::Hold => {
            ended.cancelled().await;
            None
        }
        FaultAction::Abort(error) => Some(error.response(request)),
        FaultAction::Disconnect => Some(disconnect()),
    }
}

/// A response that servers replace by the end of the connection; in process, its body fails.
fn disconnect() -> Response {
    let failing = stream::once(async { Err::<Bytes, _>(watch_body::reset()) });
    let mut response = Response::new(Body::from_stream(failing));
    response.extensions_mut().insert(Disconnect);
    response
}
