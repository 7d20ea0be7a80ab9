//! From a request's body to the answer, one function for each class of webhook.

use super::body;
use super::contain::contain_call;
use super::driver_router::Context;
use super::hooks::{Begun, NotYet, Operation};
use super::log;
use super::metrics::{Measured, MeasuredCall, Outcome, WebhookMetrics};
use super::reject::{Answer, panicked, reject};
use super::runs::{Backend, Subject};
use crate::webhook::{
    HealthzResponse, OperationRequest, OperationResponse, Status, VerdictRequest, VerdictResponse,
};
use crate::{HookError, RawDriver, Rejection, wire};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// When the controller shall ask again for an operation that takes longer.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The same for one that was not begun because too many wait.
const ASK_LATER: Duration = Duration::from_secs(10);
/// How long a body may take at least, however soon the answer is wanted.
const BODY_TIME: Duration = Duration::from_secs(1);
/// A limit beyond what a clock can count.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// `healthz`: runs the hook; one that does not answer is not healthy.
pub(super) async fn health<W, D, F>(
    _webhook: W,
    context: Arc<Context<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F + Send + 'static,
) -> Answer
where
    W: Measured<Request: Default, Response = HealthzResponse>,
    D: RawDriver,
    F: Future<Output = HealthzResponse> + Send + 'static,
{
    let call = Call::new::<W, D>(&context);
    let answer = async {
        let body = call.body(body, &context).await?;
        // Probes have nothing to send.
        let request = if body.trim_ascii().is_empty() {
            W::Request::default()
        } else {
            decode(&body)?
        };
        let driver = Arc::clone(&context.driver);
        let work = Box::pin(async move { healthz_answer(&hook(driver, request).await) });
        let span = tracing::info_span!("webhook", webhook = W::INFO.name);
        let (hooks, metrics) = (&context.hooks, call.metrics);
        let decision = async {
            let place = hooks.health_place()?;
            hooks
                .decide(W::INFO.name, metrics, span, place, call.deadline, work)
                .await
        };
        decision.await.or_else(|not_yet| {
            metrics.unfinished(not_yet);
            Ok(healthz_answer(&HealthzResponse { healthy: false }))
        })
    };
    let answer = answer.await;
    call.answered(answer, &context)
}

fn healthz_answer(response: &HealthzResponse) -> Answer {
    let outcome = match response.healthy {
        true => Outcome::Healthy,
        false => Outcome::Unhealthy,
    };
    Answer::ok(response, outcome)
}

/// A decision: runs the hook; one that takes too long is a "no".
pub(super) async fn verdict<W, D, F, T>(
    _webhook: W,
    context: Arc<Context<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F + Send + 'static,
) -> Answer
where
    W: Measured<Request: VerdictRequest, Response: VerdictResponse + From<Result<T, Rejection>>>,
    D: RawDriver,
    F: Future<Output = Result<T, Rejection>> + Send + 'static,
    T: Send + 'static,
{
    let webhook = W::INFO.name;
    let call = Call::new::<W, D>(&context);
    let answer = async {
        let body = call.body(body, &context).await?;
        let request = decode::<W::Request>(&body)?;
        if let Some(problem) = request.unknown_value() {
            return Ok(verdict_answer(&W::Response::refused(problem)));
        }
        let (hooks, metrics, deadline) = (&context.hooks, call.metrics, call.deadline);
        let decision = async {
            let place = hooks.place_by(deadline, body.len(), metrics).await?;
            drop(body);
            let driver = Arc::clone(&context.driver);
            let work = Box::pin(async move {
                let begun = Instant::now();
                let result = hook(driver, request).await;
                log::verdict_ended(&result, begun);
                verdict_answer(&W::Response::from(result))
            });
            let span = tracing::info_span!("webhook", webhook);
            hooks
                .decide(webhook, metrics, span, place, deadline, work)
                .await
        };
        decision.await.or_else(|not_yet| {
            metrics.unfinished(not_yet);
            let problem = match not_yet {
                NotYet::Running | NotYet::Queued => {
                    let limit = context.settings.answer_within;
                    format!("{webhook} took longer than {limit:?}, please try again")
                }
                NotYet::NoPlace => {
                    format!("{webhook}: the driver is busy, please try again")
                }
                NotYet::Full => format!("{webhook}: the driver is overloaded, please try later"),
            };
            Ok(verdict_answer(&W::Response::refused(problem)))
        })
    };
    let answer = answer.await;
    call.answered(answer, &context)
}

fn verdict_answer<R: VerdictResponse + Serialize>(response: &R) -> Answer {
    let outcome = match response.succ() {
        true => Outcome::Yes,
        false => Outcome::No,
    };
    Answer::ok(response, outcome)
}

/// Work: runs the hook or joins it; what takes too long is answered with `Running`.
pub(super) async fn operation<W, D, F, T>(
    _webhook: W,
    context: Arc<Context<D>>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W::Request) -> F + Send + 'static,
) -> Answer
where
    W: Measured<
            Request: OperationRequest,
            Response: OperationResponse + From<Result<T, HookError>>,
        >,
    D: RawDriver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    let call = Call::new::<W, D>(&context);
    let answer = match call.body(body, &context).await {
        // What is needed to begin is no part of this future, which so stays small enough to be
        // made for each call without much ado: a request may have a pod in it.
        Ok(body) => match begin_operation::<W, D, F, T>(&context, call.metrics, body, hook) {
            Ok(Begun::Over(answer)) => Ok(answer),
            Ok(Begun::Waits(waiting)) => {
                let result = waiting.wait(W::INFO.name, call.deadline).await;
                result.or_else(|not_yet| Ok(not_yet_answer::<W>(call.metrics, not_yet)))
            }
            Ok(Begun::NotYet(not_yet)) => Ok(not_yet_answer::<W>(call.metrics, not_yet)),
            Err(rejected) => Err(rejected),
        },
        Err(rejected) => Err(rejected),
    };
    call.answered(answer, &context)
}

/// From a body to an operation that is over, or that there is something to wait for.
fn begin_operation<W, D, F, T>(
    context: &Context<D>,
    metrics: &Arc<WebhookMetrics>,
    body: Bytes,
    hook: impl FnOnce(Arc<D>, W::Request) -> F + Send + 'static,
) -> Result<Begun, Answer>
where
    W: Measured<
            Request: OperationRequest,
            Response: OperationResponse + From<Result<T, HookError>>,
        >,
    D: RawDriver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    let webhook = W::INFO.name;
    let request = decode::<W::Request>(&body)?;
    let driver = &context.driver;
    // The driver's own code, before there is a task for it.
    let asked = contain_call(|| {
        let refused = request.dry_run() && !driver.accepts_dry_run();
        let keyed = (!refused).then(|| driver.serial_key(request.load_balancer()));
        (refused, keyed.flatten())
    });
    let (refused, serial_key) = match &asked {
        Ok((refused, serial_key)) => (*refused, serial_key.as_deref()),
        Err(_) => (false, None),
    };
    let span = tracing::info_span!(
        "webhook",
        webhook,
        recordID = log::short(request.record_id()),
        retryID = log::short(request.retry_id()),
        loadBalancer = log::load_balancer(serial_key, request.load_balancer().either()).as_ref(),
    );
    if refused {
        let message =
            format!("{webhook}: dryRun: true: this driver cannot rehearse, nothing was done");
        return Ok(Begun::Over(operation_answer(&W::Response::fail(
            message, None,
        ))));
    }
    let serial_key = match asked {
        Ok((_, serial_key)) => serial_key,
        Err(panic) => {
            tracing::error!(parent: &span, panic = panic.text(), "the driver panicked");
            return Err(panicked(webhook));
        }
    };
    let content = content::<W::Request>;
    let nameless = || content(&body);
    let operation = Operation {
        webhook,
        metrics,
        span,
        subject: Subject::new(webhook, request.record_id(), request.dry_run(), nameless),
        content,
        backend: request
            .backend_addr()
            .map(|addr| Backend::new(request.load_balancer().either(), addr)),
        serial_key,
        request: body,
    };
    let driver = Arc::clone(driver);
    let work = Box::pin(async move {
        let begun = Instant::now();
        let result = hook(driver, request).await;
        log::operation_ended(&result, begun);
        operation_answer(&W::Response::from(result))
    });
    Ok(context.hooks.operate(operation, work))
}

/// The answer while there is no result.
fn not_yet_answer<W>(metrics: &WebhookMetrics, not_yet: NotYet) -> Answer
where
    W: Measured<Response: OperationResponse>,
{
    metrics.unfinished(not_yet);
    let (message, delay) = match not_yet {
        NotYet::Running => ("is still at work", ASK_AGAIN),
        NotYet::Queued => ("waits for earlier operations to finish", ASK_AGAIN),
        NotYet::NoPlace => ("waits for a free place: the driver is busy", ASK_AGAIN),
        NotYet::Full => ("was not begun: too many operations wait", ASK_LATER),
    };
    let message = format!("{} {message}", W::INFO.name);
    operation_answer(&W::Response::running(message, Some(delay)))
}

fn operation_answer<R: OperationResponse + Serialize>(response: &R) -> Answer {
    let outcome = match response.status() {
        Status::Succ => Outcome::Succ,
        Status::Fail => Outcome::Fail,
        Status::Running => Outcome::Running,
    };
    Answer::ok(response, outcome)
}

/// A call that is being answered.
struct Call<'a> {
    metrics: &'a Arc<WebhookMetrics>,
    measured: MeasuredCall<'a>,
    /// When its body has to be here.
    body_deadline: Instant,
    /// When it has to be answered.
    deadline: Instant,
}

impl<'a> Call<'a> {
    fn new<W: Measured, D>(context: &'a Context<D>) -> Self {
        let arrived = Instant::now();
        let metrics = W::of(&context.metrics);
        let limit = context.settings.answer_within.min(FAR);
        Self {
            metrics,
            measured: MeasuredCall::new(metrics, arrived),
            body_deadline: arrived + limit.max(BODY_TIME),
            deadline: arrived + limit,
        }
    }

    async fn body<D>(&self, body: Body, context: &Context<D>) -> Result<Bytes, Answer> {
        body::read(body, context.settings.body_limit, self.body_deadline).await
    }

    /// Counts what it comes to.
    fn answered<D>(self, answer: Result<Answer, Answer>, context: &Context<D>) -> Answer {
        let answer = answer.unwrap_or_else(|rejected| rejected);
        if answer.outcome() == Outcome::Rejected {
            context.metrics.rejected(answer.status());
        }
        self.measured.answered(answer.outcome());
        answer
    }
}

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Answer> {
    wire::from_slice(body).map_err(|error| reject(StatusCode::BAD_REQUEST, error.to_string()))
}

/// What a request asks for, written in one way whoever wrote it, and without what differs between
/// tries.
fn content<R: OperationRequest + Serialize + DeserializeOwned>(body: &Bytes) -> Bytes {
    let request = wire::from_slice::<R>(body).map(OperationRequest::without_retry_id);
    let content = request
        .ok()
        .and_then(|request| serde_json::to_vec(&request).ok());
    // It has been read before, so this does not happen.
    content.map_or_else(|| body.clone(), Bytes::from)
}
