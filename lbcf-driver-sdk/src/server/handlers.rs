//! From a request's body to the response, one handler for each class of webhook.

mod operations;

pub(super) use operations::{batched, operation};

use super::body;
use super::context::Context;
use super::log::{self, Trace};
use super::metrics::{Measured, MeasuredCall, WebhookMetrics};
use super::outcome::Outcome;
use super::pending::Pending;
use super::reject::{HookResponse, reject};
use crate::driver::calls;
use crate::webhook::{HealthzResponse, VerdictResponse, Webhook};
use crate::{Driver, Rejection};
use axum::body::Body;
use axum::http::StatusCode;
use lbcf_serving::body::ReceivedBody;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Span;

/// The least time for a body to arrive, however short the deadline for the response.
const BODY_TIME: Duration = Duration::from_secs(1);
/// A longer deadline would overflow the clock.
const MAX_DEADLINE: Duration = Duration::from_secs(365 * 24 * 3600);

/// `healthz`: a hook that does not finish in time is not healthy.
pub(super) async fn health<W, D, F>(
    context: Arc<Context<D>>,
    trace: Option<Trace>,
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
        let span =
            tracing::info_span!("webhook", webhook = W::INFO.name, traceID = call.trace_id());
        call.continue_trace(&span);
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
    trace: Option<Trace>,
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
            let span = tracing::info_span!("webhook", webhook, traceID = call.trace_id());
            call.continue_trace(&span);
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
                Pending::NoToken | Pending::NoPermit => {
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

struct IncomingCall<'a> {
    metrics: &'a Arc<WebhookMetrics>,
    trace: Option<Trace>,
    measured: MeasuredCall<'a>,
    body_deadline: Instant,
    deadline: Instant,
}

impl<'a> IncomingCall<'a> {
    fn new<W: Measured, D>(context: &'a Context<D>, trace: Option<Trace>) -> Self {
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

    fn trace_id(&self) -> Option<&str> {
        self.trace.as_ref().map(Trace::id)
    }

    /// Makes a span part of the caller's trace.
    fn continue_trace(&self, span: &Span) {
        if let Some(trace) = &self.trace {
            trace.continue_in(span);
        }
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
