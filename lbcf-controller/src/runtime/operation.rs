//! Reports about objects, and calls of the operations' webhooks: what their results mean for an object and its events.

use crate::api::reasons::{Operation, ReportReason};
use crate::api::{Condition, LoadBalancerDriver, ObjectKey};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::{Regarding, Wait, WaitEvent, stored_since};
use crate::drivers::{DriverError, call_span};
use crate::index::RequestKey;
use crate::process::text::{in_full, of_driver};
use crate::runtime::context::Context;
use crate::runtime::memory::CallDigest;
use crate::runtime::outcome::{Action, Error, OperationFailure};
use crate::runtime::reason::{condition_message, condition_reason, pause};
use lbcf_driver_sdk::webhook::{OperationRequest, OperationResponse, Status, Webhook};
use std::time::Duration;
use tracing::Instrument;

/// An operation that did not succeed, or has not yet.
#[derive(Debug)]
pub(crate) enum Incomplete {
    /// The driver was not called, so that there is nothing to report.
    NotCalled(Action),
    Running(Action),
    /// It has been running for long, which an event and the object's condition report.
    StillRunning(Action, Wait),
    Failed(OperationFailure),
}

impl Incomplete {
    pub(crate) fn into_result(self) -> Result<Action, Error> {
        match self {
            Self::NotCalled(action) | Self::Running(action) | Self::StillRunning(action, _) => {
                Ok(action)
            }
            Self::Failed(failure) => Err(failure.into()),
        }
    }
}

/// The object that an operation is about.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    context: &'a Context,
    /// The request that repeats the call until it succeeds, if there is one: a driver's delay and how
    /// long it responds `Running` belong to that.
    key: Option<&'a RequestKey>,
    regarding: &'a Regarding,
    conditions: &'a [Condition],
}

impl<'a> Operand<'a> {
    /// An object that a call is about which no request repeats.
    pub(crate) const fn once(context: &'a Context, regarding: &'a Regarding) -> Self {
        Self {
            context,
            key: None,
            regarding,
            conditions: &[],
        }
    }
}

/// The object, or the part of one, that a request is for and reports about.
pub(crate) struct Reporter<'a> {
    pub(crate) context: &'a Context,
    pub(crate) key: RequestKey,
    pub(crate) regarding: Regarding,
}

impl Reporter<'_> {
    /// The object of a call that the request repeats until it succeeds.
    pub(crate) const fn operand<'a>(&'a self, conditions: &'a [Condition]) -> Operand<'a> {
        Operand {
            context: self.context,
            key: Some(&self.key),
            regarding: &self.regarding,
            conditions,
        }
    }

    pub(crate) fn event(
        &self,
        event_type: EventType,
        reason: &'static ReportReason,
        message: &str,
    ) {
        let recorder = &self.context.recorder;
        recorder.record_change(&self.regarding, event_type, reason, message);
    }

    /// Begins a wait, unless the object waits for the same already; returns for how long it has.
    pub(crate) fn begin_wait(&self, reason: &'static str) -> Duration {
        let memory = &self.context.memory;
        memory.begin_wait(&self.key, reason, None).lasted
    }

    /// Ends the object's wait: the next one is reported by an event, also if it is for the same.
    pub(crate) fn end_wait(&self) {
        self.context.end_wait(&self.key, &self.regarding);
    }

    /// The rest of the moment that a wait has to last before it is reported, as most do not.
    pub(crate) fn unreported(&self, wait: &Wait) -> Option<Duration> {
        let lasted = self.begin_wait(wait.reason);
        let left = self.context.options.status_interval.saturating_sub(lasted);
        (!left.is_zero()).then_some(left)
    }

    /// Records the event about a wait; returns when to do so again.
    pub(crate) fn wait_event(&self, wait: &Wait) -> Action {
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
    }

    /// The wait for a driver that cannot be used. Its removal, and a new one, enqueue the request.
    pub(crate) fn driver_wait(
        &self,
        (field, driver): (&str, &ObjectKey),
        reason: &'static ReportReason,
        problem: &str,
    ) -> Wait {
        self.begin_wait(reason);
        let message = format!("{field}: LoadBalancerDriver {driver} {problem}");
        Wait::new(reason, message, WaitEvent::Problem)
    }
}

/// Calls the webhook of an operation once. Each result but success is recorded as an event.
pub(crate) async fn operate<W>(
    operand: Operand<'_>,
    driver: &LoadBalancerDriver,
    operation: &'static Operation,
    request: W,
) -> Result<W::Response, Incomplete>
where
    W: Webhook<Response: OperationResponse> + OperationRequest,
{
    let context = operand.context;
    let (namespace, name) = operand.regarding.name();
    let request = request.about(namespace, name);
    let span = call_span::<W>(driver);
    if context.options.dry_run {
        let call = dry_run::<W>(context, driver, request);
        call.instrument(span).await;
        return Err(Incomplete::Running(Action::AwaitChange));
    }
    let memory = &context.memory;
    let digest = || CallDigest::of::<W>(driver, &request);
    let remaining = operand.key.and_then(|key| memory.call_delay(key, digest));
    let pause = memory.pause_left(&ObjectKey::of(driver), operand.key);
    if let Some(remaining) = remaining.max(pause) {
        return Err(Incomplete::NotCalled(Action::RequeueAfter(remaining)));
    }
    let call = context.drivers.call::<W>(driver, &request);
    let result = call.instrument(span.clone()).await;
    span.in_scope(|| settle(operand, driver, operation, &request, result))
}

/// Does what follows from the result of a call.
pub(crate) fn settle<W>(
    operand: Operand<'_>,
    driver: &LoadBalancerDriver,
    operation: &'static Operation,
    request: &W,
    result: Result<W::Response, DriverError>,
) -> Result<W::Response, Incomplete>
where
    W: Webhook<Response: OperationResponse> + OperationRequest,
{
    let context = operand.context;
    if let Some(key) = operand.key {
        if let Some(delay) = delay_after::<W>(&result, context.options.poll_interval) {
            let digest = CallDigest::of::<W>(driver, request);
            context.memory.delay_call(key, digest, delay);
        }
        let response = result.as_ref();
        let is_running = response.is_ok_and(|response| response.status() == Status::Running);
        if !is_running {
            context.end_wait(key, operand.regarding);
        }
    }
    conclude::<W>(operand, driver, operation, result)
}

/// Records the event about a call's result, and says what follows from it.
fn conclude<W>(
    operand: Operand<'_>,
    driver: &LoadBalancerDriver,
    operation: &'static Operation,
    result: Result<W::Response, DriverError>,
) -> Result<W::Response, Incomplete>
where
    W: Webhook<Response: OperationResponse>,
{
    let (context, webhook) = (operand.context, W::INFO.name);
    let record = |event_type: EventType, reason: &'static ReportReason, message: &str| {
        let recorder = &context.recorder;
        recorder.record_change(operand.regarding, event_type, reason, message);
    };
    let response = match result {
        Ok(response) => response,
        // The process ends, and the next leader repeats the call. Nothing follows from this one, as
        // its result is not known.
        Err(DriverError::NotLeading(_)) => {
            return Err(Incomplete::NotCalled(Action::AwaitChange));
        }
        Err(error) => {
            let message = of_driver(&in_full(&error));
            tracing::warn!(error = message, "no valid response; retrying");
            record(Warning, operation.invalid, &message);
            return Err(Incomplete::Failed(OperationFailure {
                reason: error.reason(),
                message,
                retry_delay: None,
                is_unreceived: error.is_unreceived(),
            }));
        }
    };
    let (status, message) = (response.status(), of_driver(response.message()));
    let retry_delay = response.min_retry_delay();
    tracing::debug!(?status, msg = message);
    match status {
        Status::Succ => Ok(response),
        Status::Running => {
            // A driver's own delay is kept exactly.
            let delay = retry_delay.unwrap_or(context.options.poll_interval);
            let action = Action::RequeueAfter(delay);
            if let Some(wait) = long_running(operand, webhook) {
                context.recorder.record_wait(operand.regarding, &wait);
                return Err(Incomplete::StillRunning(action, wait));
            }
            record(Normal, operation.running, &format!("msg: {message}"));
            Err(Incomplete::Running(action))
        }
        Status::Fail => {
            tracing::warn!(msg = message, "the driver failed; retrying");
            record(Warning, operation.failed, &format!("msg: {message}"));
            let reason = response.failure_reason();
            let poll_interval = context.options.poll_interval;
            if let Some(pause) = pause(reason, retry_delay, poll_interval) {
                let driver = ObjectKey::of(driver);
                context.memory.pause(&driver, operand.key, pause);
            }
            Err(Incomplete::Failed(OperationFailure {
                reason: condition_reason(webhook, reason),
                message: condition_message(reason, message),
                retry_delay,
                is_unreceived: false,
            }))
        }
    }
}

/// The time that the same call has to wait: the driver's delay is kept exactly, and what runs is not
/// polled more often because of an event. A failure without a delay may be repeated earlier than by the
/// backoff.
fn delay_after<W>(
    result: &Result<W::Response, DriverError>,
    poll_interval: Duration,
) -> Option<Duration>
where
    W: Webhook<Response: OperationResponse>,
{
    let response = result.as_ref().ok()?;
    match response.status() {
        Status::Succ => None,
        Status::Fail => response.min_retry_delay(),
        Status::Running => Some(response.min_retry_delay().unwrap_or(poll_interval)),
    }
}

/// The wait for a webhook that responds `Running`, if it has done so for long.
fn long_running(operand: Operand<'_>, webhook: &'static str) -> Option<Wait> {
    let context = operand.context;
    let stored = stored_since(operand.conditions, webhook);
    let since = context.memory.begin_wait(operand.key?, webhook, stored);
    let is_long = since.lasted >= context.options.long_wait;
    is_long.then(|| Wait::still_running(webhook, since.at))
}

/// In a dry run a driver is called only if it accepts that, and nothing follows from its response.
async fn dry_run<W>(context: &Context, driver: &LoadBalancerDriver, request: W)
where
    W: Webhook<Response: OperationResponse> + OperationRequest,
{
    if !driver.spec.accept_dry_run_call {
        tracing::info!("dry run: would call the driver, which accepts no dry-run calls");
        return;
    }
    let request = request.into_dry_run();
    match context.drivers.call::<W>(driver, &request).await {
        Ok(response) => {
            let (status, msg) = (response.status(), of_driver(response.message()));
            tracing::info!(?status, msg, "dry run: called the driver");
        }
        Err(error) => {
            let error = of_driver(&in_full(&error));
            tracing::warn!(error, "dry run: calling the driver failed");
        }
    }
}

/// A new `retryID`.
pub(crate) fn retry_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
