//! From a request's body to the answer, one function for each class of webhook.

use super::Shared as Server;
use super::body;
use super::hooks::{NotYet, Operation, contain_call};
use super::reject::{Answer, panicked, reject};
use super::runs::{Backend, Subject};
use crate::outcome::chain;
use crate::webhook::{
    HealthzResponse, OperationRequest, OperationResponse, VerdictRequest, VerdictResponse, Webhook,
};
use crate::{NotSucc, RawDriver, Refusal, wire};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

/// When the controller shall ask again for an operation that takes longer.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// `healthz`: runs the hook; one that does not answer is not healthy.
pub(super) async fn health<W, D, F>(
    _webhook: W,
    server: Arc<Server<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F,
) -> Answer
where
    W: Webhook<Request: Default, Response = HealthzResponse>,
    D: RawDriver,
    F: Future<Output = HealthzResponse> + Send + 'static,
{
    let deadline = Instant::now() + server.settings.answer_within;
    let request = match body::read(body, server.settings.body_limit, deadline).await {
        // Probes have nothing to send.
        Ok(body) if body.trim_ascii().is_empty() => Ok(W::Request::default()),
        Ok(body) => decode(&body),
        Err(answer) => Err(answer),
    };
    let request = match request {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    let work = hook(Arc::clone(&server.driver), request);
    let work = async move { Answer::ok(&work.await) };
    let span = tracing::info_span!("webhook", webhook = W::INFO.name);
    let decision = server.hooks.decide(W::INFO.name, deadline, work);
    decision
        .instrument(span)
        .await
        .unwrap_or_else(|| Answer::ok(&HealthzResponse { healthy: false }))
}

/// A decision: runs the hook; one that takes too long is a "no".
pub(super) async fn verdict<W, D, F, T>(
    _webhook: W,
    server: Arc<Server<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F,
) -> Answer
where
    W: Webhook<Request: VerdictRequest, Response: VerdictResponse + From<Result<T, Refusal>>>,
    D: RawDriver,
    F: Future<Output = Result<T, Refusal>> + Send + 'static,
{
    let deadline = Instant::now() + server.settings.answer_within;
    let request = body::read(body, server.settings.body_limit, deadline).await;
    let request = match request.and_then(|body| decode::<W::Request>(&body)) {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    if let Some(problem) = request.unknown_value() {
        return Answer::ok(&W::Response::refused(problem));
    }
    let work = hook(Arc::clone(&server.driver), request);
    let work = async move {
        let result = work.await;
        if let Err(refusal) = &result
            && let Some(source) = refusal.source()
        {
            tracing::info!(because = chain(source), "{}", refusal.message());
        }
        Answer::ok(&W::Response::from(result))
    };
    let span = tracing::info_span!("webhook", webhook = W::INFO.name);
    let decision = server.hooks.decide(W::INFO.name, deadline, work);
    decision.instrument(span).await.unwrap_or_else(|| {
        Answer::ok(&W::Response::refused(format!(
            "{} took longer than {:?}, please try again",
            W::INFO.name,
            server.settings.answer_within
        )))
    })
}

/// Work: runs the hook or joins it; what takes too long is answered with `Running`.
pub(super) async fn operation<W, D, F, T>(
    _webhook: W,
    server: Arc<Server<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F,
) -> Answer
where
    W: Webhook<Request: OperationRequest, Response: OperationResponse + From<Result<T, NotSucc>>>,
    D: RawDriver,
    F: Future<Output = Result<T, NotSucc>> + Send + 'static,
{
    let webhook = W::INFO.name;
    let deadline = Instant::now() + server.settings.answer_within;
    let request = body::read(body, server.settings.body_limit, deadline).await;
    let request = match request.and_then(|body| decode::<W::Request>(&body)) {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    let span = tracing::info_span!(
        "webhook",
        webhook,
        recordID = request.record_id(),
        retryID = request.retry_id()
    );
    let in_span = async {
        if request.dry_run() && !server.driver.accepts_dry_run() {
            let message =
                format!("{webhook}: dryRun: true: this driver cannot rehearse, nothing was done");
            return Answer::ok(&W::Response::fail(message, None));
        }
        let content = match serde_json::to_vec(&request.clone().without_retry_id()) {
            Ok(content) => Bytes::from(content),
            Err(error) => {
                return reject(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
            }
        };
        let serial_key = || server.driver.serial_key(request.load_balancer());
        let Some(serial_key) = contain_call(webhook, serial_key) else {
            return panicked(webhook);
        };
        let subject = Subject::new(webhook, request.record_id(), request.dry_run(), &content);
        let backend = request.backend_addr().map(|addr| Backend {
            load_balancer: request.load_balancer().either().clone(),
            addr: addr.to_owned(),
        });
        let operation = Operation {
            webhook,
            subject,
            content,
            backend,
            serial_key,
        };
        let work = hook(Arc::clone(&server.driver), request);
        let work = async move {
            let result = work.await;
            if let Err(not_succ) = &result {
                log_source(not_succ);
            }
            Answer::ok(&W::Response::from(result))
        };
        match server.hooks.operate(operation, deadline, work).await {
            Ok(answer) => answer,
            Err(not_yet) => Answer::ok(&W::Response::running(
                match not_yet {
                    NotYet::Running => format!("{webhook} is still at work"),
                    NotYet::Queued => format!("{webhook} waits for earlier operations to finish"),
                },
                Some(ASK_AGAIN),
            )),
        }
    };
    in_span.instrument(span).await
}

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Answer> {
    wire::from_slice(body).map_err(|error| reject(StatusCode::BAD_REQUEST, error.to_string()))
}

/// The message is for the user and goes onto the wire; what is behind it is for the log, where
/// the span adds webhook, recordID and retryID.
fn log_source(not_succ: &NotSucc) {
    if let Some(source) = not_succ.source() {
        let status = not_succ.status();
        tracing::warn!(?status, because = chain(source), "{}", not_succ.message());
    }
}
