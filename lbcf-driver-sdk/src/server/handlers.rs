//! From a request's body to the response, one handler for each class of webhook.

use super::body;
use super::contain::contain_call;
use super::context::Context;
use super::hooks::{Operation, StartedCall};
use super::log;
use super::metrics::{Measured, MeasuredCall, WebhookMetrics};
use super::outcome::Outcome;
use super::pending::Pending;
use super::reject::{HookResponse, panicked, reject};
use super::single_flight::{BackendId, IdempotencyKey};
use crate::driver::calls;
use crate::webhook::{
    HealthzResponse, OperationRequest, OperationResponse, Status, VerdictResponse, Webhook,
};
use crate::{Driver, HookError, Rejection};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use lbcf_serving::body::ReceivedBody;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The retry delay while an operation runs or waits.
const RETRY_SOON: Duration = Duration::from_secs(1);
/// The retry delay of an operation that was not started because too many wait.
const RETRY_LATER: Duration = Duration::from_secs(10);
/// The least time for a body to arrive, however short the deadline for the response.
const BODY_TIME: Duration = Duration::from_secs(1);
/// A longer deadline would overflow the clock.
const MAX_DEADLINE: Duration = Duration::from_secs(365 * 24 * 3600);

/// `healthz`: a hook that does not finish in time is not healthy.
pub(super) async fn health<W, D, F>(
    context: Arc<Context<D>>,
    trace: Option<String>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
) -> HookResponse
where
    W: Measured<Response = HealthzResponse> + Default,
    D: Driver,
    F: Future<Output = HealthzResponse> + Send + 'static,
{
    let call = IncomingCall::new::<W, D>(&context, trace);
    let response = async {
        let body = call.body(body, &context).await?;
        // Probes send no body.
        let request = if body.bytes.trim_ascii().is_empty() {
            W::default()
        } else {
            decode::<W>(&body.bytes)?
        };
        let driver = Arc::clone(&context.driver);
        let hook = Box::pin(async move { healthz_response::<W>(&hook(driver, request).await) });
        let span = tracing::info_span!("webhook", webhook = W::INFO.name, traceID = call.trace);
        let (hooks, metrics) = (&context.hooks, call.metrics);
        let decision = async {
            let permit = hooks.health_permit()?;
            hooks
                .decide(W::INFO.name, metrics, span, permit, call.deadline, hook)
                .await
        };
        decision.await.or_else(|pending| {
            metrics.unfinished(pending);
            Ok(healthz_response::<W>(&calls::health(
                &*context.driver,
                false,
            )))
        })
    };
    let response = response.await;
    call.finish(response, &context)
}

fn healthz_response<W: Webhook<Response = HealthzResponse>>(
    response: &HealthzResponse,
) -> HookResponse {
    let outcome = match response.healthy {
        true => Outcome::Healthy,
        false => Outcome::Unhealthy,
    };
    HookResponse::ok(W::write_response(response), outcome)
}

/// A decision: a hook that does not finish in time is a "no".
pub(super) async fn verdict<W, D, F, T>(
    context: Arc<Context<D>>,
    trace: Option<String>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
) -> HookResponse
where
    W: Measured<Response: VerdictResponse + From<Result<T, Rejection>>>,
    D: Driver,
    F: Future<Output = Result<T, Rejection>> + Send + 'static,
    T: Send + 'static,
{
    let webhook = W::INFO.name;
    let call = IncomingCall::new::<W, D>(&context, trace);
    let response = async {
        let body = call.body(body, &context).await?;
        let request = decode::<W>(&body.bytes)?;
        let (hooks, metrics, deadline) = (&context.hooks, call.metrics, call.deadline);
        let decision = async {
            let permit = hooks.permit_by(deadline, body.bytes.len(), metrics).await?;
            drop(body.bytes);
            let driver = Arc::clone(&context.driver);
            let hook = Box::pin(async move {
                let _memory = body.memory;
                let started = Instant::now();
                let result = hook(driver, request).await;
                log::verdict_ended(&result, started);
                verdict_response::<W>(&W::Response::from(result))
            });
            let span = tracing::info_span!("webhook", webhook, traceID = call.trace);
            hooks
                .decide(webhook, metrics, span, permit, deadline, hook)
                .await
        };
        decision.await.or_else(|pending| {
            metrics.unfinished(pending);
            let problem = match pending {
                Pending::Running | Pending::Queued => {
                    let limit = context.settings.answer_within;
                    format!("{webhook} took longer than {limit:?}, please try again")
                }
                Pending::NoPermit => {
                    format!("{webhook}: the driver is busy, please try again")
                }
                Pending::Overloaded => {
                    format!("{webhook}: the driver is overloaded, please try later")
                }
            };
            Ok(verdict_response::<W>(&W::Response::refused(problem)))
        })
    };
    let response = response.await;
    call.finish(response, &context)
}

fn verdict_response<W: Webhook<Response: VerdictResponse>>(response: &W::Response) -> HookResponse {
    let outcome = match response.succ() {
        true => Outcome::Yes,
        false => Outcome::No,
    };
    HookResponse::ok(W::write_response(response), outcome)
}

/// An operation: runs the hook or joins it; one that is not done in time is answered with `Running`.
pub(super) async fn operation<W, D, F, T>(
    context: Arc<Context<D>>,
    trace: Option<String>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
) -> HookResponse
where
    W: Measured<Response: OperationResponse + From<Result<T, HookError>>> + OperationRequest,
    D: Driver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    let call = IncomingCall::new::<W, D>(&context, trace);
    let response = match call.body(body, &context).await {
        // Decoded in a separate function, so that this future does not store the request, which may
        // contain a pod.
        Ok(body) => match start_operation::<W, D, F, T>(&context, &call, body, hook) {
            Ok(StartedCall::Done(response)) => Ok(response),
            Ok(StartedCall::Waiting(waiting)) => {
                let result = waiting.wait(W::INFO.name, call.deadline).await;
                result.or_else(|pending| Ok(pending_response::<W>(call.metrics, pending)))
            }
            Ok(StartedCall::NotStarted(pending)) => {
                Ok(pending_response::<W>(call.metrics, pending))
            }
            Err(rejected) => Err(rejected),
        },
        Err(rejected) => Err(rejected),
    };
    call.finish(response, &context)
}

/// From a body to an operation that is done, waits or was not started.
fn start_operation<W, D, F, T>(
    context: &Context<D>,
    call: &IncomingCall<'_>,
    body: ReceivedBody,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
) -> Result<StartedCall, HookResponse>
where
    W: Measured<Response: OperationResponse + From<Result<T, HookError>>> + OperationRequest,
    D: Driver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    let webhook = W::INFO.name;
    let request = decode::<W>(&body.bytes)?;
    let driver = Arc::clone(&context.driver);
    // The driver's code, which may panic, outside a task.
    let asked = contain_call(|| {
        let refused = request.dry_run() && !driver.accepts_dry_run();
        let keyed = (!refused)
            .then(|| calls::serial_key(driver.as_ref(), W::INFO, request.load_balancer()));
        (refused, keyed.flatten())
    });
    let (refused, serial_key) = match &asked {
        Ok((refused, serial_key)) => (*refused, serial_key.as_deref()),
        Err(_) => (false, None),
    };
    let span = tracing::info_span!(
        "webhook",
        webhook,
        traceID = call.trace,
        recordID = log::short(request.record_id()),
        retryID = log::short(request.retry_id()),
        loadBalancer = log::load_balancer(serial_key, request.load_balancer().either()).as_ref(),
    );
    if refused {
        let message = format!(
            "{webhook}: dryRun: true: this driver does not support dry runs, nothing was done"
        );
        return Ok(StartedCall::Done(operation_response::<W>(
            &W::Response::fail(message, None),
        )));
    }
    let serial_key = match asked {
        Ok((_, serial_key)) => serial_key,
        Err(panic) => {
            tracing::error!(parent: &span, panic = panic.text(), "the driver panicked");
            return Err(panicked(webhook));
        }
    };
    let (record_id, dry_run) = (request.record_id(), request.dry_run());
    let content = content::<W>;
    let operation = Operation {
        webhook,
        metrics: call.metrics,
        span,
        key: IdempotencyKey::new(webhook, record_id, dry_run, || content(&body.bytes)),
        content,
        backend: request
            .backend_addr()
            .map(|addr| BackendId::new(request.load_balancer().either(), addr)),
        serial_key,
        request: body.bytes,
    };
    let hook = Box::pin(async move {
        let _memory = body.memory;
        let started = Instant::now();
        let result = hook(driver, request).await;
        log::operation_ended(&result, started);
        operation_response::<W>(&W::Response::from(result))
    });
    Ok(context.hooks.operate(operation, hook))
}

/// The response to a call without a result.
fn pending_response<W>(metrics: &WebhookMetrics, pending: Pending) -> HookResponse
where
    W: Measured<Response: OperationResponse>,
{
    metrics.unfinished(pending);
    let (message, delay) = match pending {
        Pending::Running => ("still runs", RETRY_SOON),
        Pending::Queued => ("waits for earlier operations to finish", RETRY_SOON),
        Pending::NoPermit => (
            "waits for other hooks to finish: the driver is busy",
            RETRY_SOON,
        ),
        Pending::Overloaded => ("was not started: too many operations wait", RETRY_LATER),
    };
    let message = format!("{} {message}", W::INFO.name);
    operation_response::<W>(&W::Response::running(message, Some(delay)))
}

fn operation_response<W: Webhook<Response: OperationResponse>>(
    response: &W::Response,
) -> HookResponse {
    let outcome = match response.status() {
        Status::Succ => Outcome::Succ,
        Status::Fail => Outcome::Fail,
        Status::Running => Outcome::Running,
    };
    HookResponse::ok(W::write_response(response), outcome)
}

struct IncomingCall<'a> {
    metrics: &'a Arc<WebhookMetrics>,
    trace: Option<String>,
    measured: MeasuredCall<'a>,
    body_deadline: Instant,
    deadline: Instant,
}

impl<'a> IncomingCall<'a> {
    fn new<W: Measured, D>(context: &'a Context<D>, trace: Option<String>) -> Self {
        let arrived = Instant::now();
        let metrics = W::of(&context.metrics);
        let limit = context.settings.answer_within.min(MAX_DEADLINE);
        Self {
            metrics,
            trace,
            measured: MeasuredCall::new(metrics, arrived),
            body_deadline: arrived + limit.max(BODY_TIME),
            deadline: arrived + limit,
        }
    }

    async fn body<D>(
        &self,
        body: Body,
        context: &Context<D>,
    ) -> Result<ReceivedBody, HookResponse> {
        let (limit, budget) = (context.settings.body_limit, &context.bodies);
        body::read(body, limit, self.body_deadline, budget).await
    }

    fn finish<D>(
        self,
        response: Result<HookResponse, HookResponse>,
        context: &Context<D>,
    ) -> HookResponse {
        let response = response.unwrap_or_else(|rejected| rejected);
        if response.outcome() == Outcome::Rejected {
            context.metrics.rejected(response.status());
        }
        self.measured.finish(response.outcome());
        response
    }
}

fn decode<W: Webhook>(body: &[u8]) -> Result<W, HookResponse> {
    W::read_request(body).map_err(|error| reject(StatusCode::BAD_REQUEST, error.to_string()))
}

/// A request in canonical form, and without what differs between retries.
fn content<W: Webhook + OperationRequest>(body: &Bytes) -> Bytes {
    let request = W::read_request(body).map(OperationRequest::without_retry_id);
    let content = request
        .ok()
        .and_then(|request| request.write_request().ok());
    // The body was decoded before, so this cannot fail.
    content.map_or_else(|| body.clone(), Bytes::from)
}
