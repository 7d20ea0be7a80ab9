//! Operations: from a request to one that runs, waits or is joined.

use super::{IncomingCall, decode};
use crate::driver::calls;
use crate::server::contain::contain_call;
use crate::server::context::Context;
use crate::server::hooks::{Boarding, Operation, Place, StartedCall};
use crate::server::log::{self, Trace};
use crate::server::metrics::{Measured, WebhookMetrics};
use crate::server::outcome::Outcome;
use crate::server::pending::Pending;
use crate::server::reject::{HookResponse, panicked};
use crate::server::single_flight::{BackendId, IdempotencyKey};
use crate::webhook::{OperationRequest, OperationResponse, Status, Webhook};
use crate::{Driver, HookError};
use axum::body::{Body, Bytes};
use lbcf_serving::body::ReceivedBody;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Span;

/// The retry delay while an operation runs or waits.
const RETRY_SOON: Duration = Duration::from_secs(1);
/// The retry delay of an operation that was not started because too many wait.
const RETRY_LATER: Duration = Duration::from_secs(10);

/// The request of an operation, whose hook returns `T`.
pub(in crate::server) trait Operated<T>:
    Measured<Response: OperationResponse + From<Result<T, HookError>>> + OperationRequest
{
}

impl<T, W> Operated<T> for W where
    W: Measured<Response: OperationResponse + From<Result<T, HookError>>> + OperationRequest
{
}

/// An operation: runs the hook or joins it; one that is not done in time is answered with `Running`.
pub(in crate::server) async fn operation<W, D, F, T>(
    context: Arc<Context<D>>,
    trace: Option<Trace>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
) -> HookResponse
where
    W: Operated<T>,
    D: Driver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    respond::<W, D, T>(context, trace, body, |context, call, body| {
        let request = decode::<W>(&body.bytes)?;
        let asked = ask::<W, D, T>(context, call, &request)?;
        let driver = Arc::clone(&context.driver);
        let run = |request| hook(driver, request);
        Ok(start(context, call, body, request, asked, run))
    })
    .await
}

/// An operation of which the driver may get many at once.
pub(in crate::server) async fn batched<W, D, F, B, T>(
    context: Arc<Context<D>>,
    trace: Option<Trace>,
    body: Body,
    hook: impl FnOnce(Arc<D>, W) -> F + Send + 'static,
    batch_hook: impl FnOnce(Arc<D>, Vec<W>) -> B + Send + 'static,
) -> HookResponse
where
    W: Operated<T>,
    D: Driver,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    B: Future<Output = Vec<Result<T, HookError>>> + Send + 'static,
    T: Send + 'static,
{
    respond::<W, D, T>(context, trace, body, |context, call, body| {
        let request = decode::<W>(&body.bytes)?;
        let mut asked = ask::<W, D, T>(context, call, &request)?;
        let driver = Arc::clone(&context.driver);
        // A dry run is about what it finds, and would only make a batch wait.
        let (true, Some(serial_key)) = (asked.batch > 1 && !request.dry_run(), &asked.serial_key)
        else {
            let run = |request| hook(driver, request);
            return Ok(start(context, call, body, request, asked, run));
        };
        let place = Place::new::<W, T>(request.backend_addr().unwrap_or_default(), request.clone());
        let boarding = Boarding {
            place: Arc::clone(&place),
            serial_key: serial_key.clone(),
            queue: context.hooks.load_balancers.clone(),
            size: asked.batch,
            metrics: Arc::clone(call.metrics),
        };
        asked.place = Some(place);
        let run = |_| boarding.outcome(|requests| batch_hook(driver, requests));
        Ok(start(context, call, body, request, asked, run))
    })
    .await
}

/// The response to a call, whose operation `start` starts.
async fn respond<W, D, T>(
    context: Arc<Context<D>>,
    trace: Option<Trace>,
    body: Body,
    start: impl FnOnce(
        &Context<D>,
        &IncomingCall<'_>,
        ReceivedBody,
    ) -> Result<StartedCall, HookResponse>,
) -> HookResponse
where
    W: Operated<T>,
    D: Driver,
{
    let call = IncomingCall::new::<W, D>(&context, trace);
    let response = match call.body(body, &context).await {
        // Decoded in a separate function, so that this future does not store the request, which may
        // contain a pod.
        Ok(body) => match start(&context, &call, body) {
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

/// The driver's word on an operation before it starts.
struct Asked {
    span: Span,
    serial_key: Option<String>,
    /// The most requests of a batch.
    batch: usize,
    place: Option<Arc<Place>>,
}

/// Asks the driver about an operation; the response is for one that is not started.
fn ask<W, D, T>(
    context: &Context<D>,
    call: &IncomingCall<'_>,
    request: &W,
) -> Result<Asked, HookResponse>
where
    W: Operated<T>,
    D: Driver,
{
    let webhook = W::INFO.name;
    let driver = context.driver.as_ref();
    // The driver's code, which may panic, outside a task.
    let asked = contain_call(|| {
        let refused = request.dry_run() && !driver.accepts_dry_run();
        let keyed = (!refused).then(|| calls::serial_key(driver, W::INFO, request.load_balancer()));
        (refused, keyed.flatten(), driver.batch_size(W::INFO))
    });
    let (refused, serial_key) = match &asked {
        Ok((refused, serial_key, _)) => (*refused, serial_key.as_deref()),
        Err(_) => (false, None),
    };
    let span = tracing::info_span!(
        "webhook",
        webhook,
        traceID = call.trace_id(),
        recordID = log::short(request.record_id()),
        retryID = log::short(request.retry_id()),
        loadBalancer = log::load_balancer(serial_key, request.load_balancer().either()).as_ref(),
    );
    call.continue_trace(&span);
    if refused {
        let message = format!(
            "{webhook}: dryRun: true: this driver does not support dry runs, nothing was done"
        );
        return Err(operation_response::<W>(&W::Response::fail(message, None)));
    }
    match asked {
        Ok((_, serial_key, batch)) => Ok(Asked {
            span,
            serial_key,
            batch,
            place: None,
        }),
        Err(panic) => {
            tracing::error!(parent: &span, panic = panic.text(), "the driver panicked");
            Err(panicked(webhook))
        }
    }
}

/// Starts an operation, unless it joins another one.
fn start<W, D, F, T>(
    context: &Context<D>,
    call: &IncomingCall<'_>,
    body: ReceivedBody,
    request: W,
    asked: Asked,
    run: impl FnOnce(W) -> F + Send + 'static,
) -> StartedCall
where
    W: Operated<T>,
    F: Future<Output = Result<T, HookError>> + Send + 'static,
    T: Send + 'static,
{
    let webhook = W::INFO.name;
    let (record_id, dry_run) = (request.record_id(), request.dry_run());
    let content = content::<W>;
    let operation = Operation {
        webhook,
        metrics: call.metrics,
        span: asked.span,
        key: IdempotencyKey::new(webhook, record_id, dry_run, || content(&body.bytes)),
        content,
        backend: request
            .backend_addr()
            .map(|addr| BackendId::new(request.load_balancer().either(), addr)),
        serial_key: asked.serial_key,
        place: asked.place,
        is_limited: W::INFO.changes_load_balancer(),
        request: body.bytes,
    };
    let hook = Box::pin(async move {
        let _memory = body.memory;
        let started = Instant::now();
        let result = run(request).await;
        log::operation_ended(&result, started);
        operation_response::<W>(&W::Response::from(result))
    });
    context.hooks.operate(operation, hook)
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
        Pending::NoToken => (
            "waits because of the rate of hooks (--max-hooks-per-second)",
            RETRY_SOON,
        ),
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

/// A request in canonical form, and without what differs between retries.
fn content<W: Webhook + OperationRequest>(body: &Bytes) -> Bytes {
    let request = W::read_request(body).map(OperationRequest::without_retry_id);
    let content = request
        .ok()
        .and_then(|request| request.write_request().ok());
    // The body was decoded before, so this cannot fail.
    content.map_or_else(|| body.clone(), Bytes::from)
}
