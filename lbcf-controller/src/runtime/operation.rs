//! Calls of the operations' webhooks, and what their results mean for an object and its events.

use crate::api::{Condition, LoadBalancerDriver, ObjectKey, reasons};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::{Regarding, Wait, stored_since};
use crate::drivers::DriverError;
use crate::index::RequestKey;
use crate::process::error_text::in_full;
use crate::runtime::call_delays::CallDigest;
use crate::runtime::context::Context;
use crate::runtime::outcome::{Action, Error, OperationFailure};
use lbcf_driver_sdk::webhook::{OperationRequest, OperationResponse, Status, Webhook};
use std::time::Duration;

/// An operation that did not succeed, or has not yet.
#[derive(Debug)]
pub(crate) enum Incomplete {
    /// The driver was not called, so that there is nothing to report.
    NotCalled(Action),
    Running(Action),
    /// It has been running for long, which an event and the object's condition report (d46).
    StillRunning(Action, Wait),
    Failed(OperationFailure),
}

impl<'a> Operand<'a> {
    /// An object that a call is about which no request repeats.
    pub(crate) const fn once(regarding: &'a Regarding) -> Self {
        Self {
            key: None,
            regarding,
            conditions: &[],
        }
    }
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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// The request that repeats the call until it succeeds, if there is one: a driver's delay and how
    /// long it responds `Running` belong to that.
    pub key: Option<&'a RequestKey>,
    pub regarding: &'a Regarding,
    pub conditions: &'a [Condition],
}

/// Calls the webhook of an operation once. Each result but success is recorded as an event, whose
/// reason is `Running`, `Failed` or, without a valid response, `Invalid` before the operation's name
/// (b102 to b104, b120 to b123).
pub(crate) async fn operate<W>(
    context: &Context,
    operand: Operand<'_>,
    driver: &LoadBalancerDriver,
    operation: &str,
    request: W::Request,
) -> Result<W::Response, Incomplete>
where
    W: Webhook<Request: OperationRequest, Response: OperationResponse>,
{
    if context.options.dry_run {
        dry_run::<W>(context, driver, request).await;
        return Err(Incomplete::Running(Action::AwaitChange));
    }
    let delays = &context.call_delays;
    let digest = || CallDigest::of::<W>(driver, &request);
    let remaining = operand.key.and_then(|key| delays.remaining(key, digest));
    if let Some(remaining) = remaining {
        return Err(Incomplete::NotCalled(Action::RequeueAfter(remaining)));
    }
    let result = context.drivers.call::<W>(driver, &request).await;
    if let Some(key) = operand.key {
        if let Some(delay) = delay_after::<W>(&result, context.options.poll_interval) {
            delays.insert(key, digest(), delay);
        }
        if !is_running::<W>(&result) {
            context.end_wait(key, operand.regarding);
        }
    }
    let (event, message, incomplete) = match result {
        Ok(response) => {
            let (status, message) = (response.status(), response.message().to_owned());
            let retry_delay = response.min_retry_delay();
            let key = ObjectKey::of(driver);
            tracing::debug!(webhook = W::INFO.name, driver = %key, ?status, message);
            let event_message = format!("msg: {message}");
            match status {
                Status::Succ => return Ok(response),
                Status::Running => {
                    // d22: a driver's own delay is kept exactly.
                    let delay = retry_delay.unwrap_or(context.options.poll_interval);
                    let action = Action::RequeueAfter(delay);
                    if let Some(wait) = long_running(context, operand, W::INFO.name) {
                        context.recorder.record_wait(operand.regarding, &wait);
                        return Err(Incomplete::StillRunning(action, wait));
                    }
                    (
                        (Normal, "Running"),
                        event_message,
                        Incomplete::Running(action),
                    )
                }
                Status::Fail => {
                    tracing::warn!(webhook = W::INFO.name, driver = %key, message, "the driver failed; retrying");
                    let failed = Incomplete::Failed(OperationFailure {
                        reason: reasons::OPERATION_FAILED,
                        message,
                        retry_delay,
                    });
                    ((Warning, "Failed"), event_message, failed)
                }
            }
        }
        // The process ends, and the next leader repeats the call. Nothing follows from this one, as
        // its result is not known.
        Err(DriverError::NotLeading(_)) => {
            return Err(Incomplete::NotCalled(Action::AwaitChange));
        }
        Err(error) => {
            let message = in_full(&error);
            let key = ObjectKey::of(driver);
            tracing::warn!(webhook = W::INFO.name, driver = %key, error = message, "no valid response; retrying");
            let failed = Incomplete::Failed(OperationFailure {
                reason: error.reason(),
                message: message.clone(),
                retry_delay: None,
            });
            ((Warning, "Invalid"), message, failed)
        }
    };
    let (event_type, outcome): (EventType, _) = event;
    let (recorder, reason) = (&context.recorder, format!("{outcome}{operation}"));
    recorder.record_change(operand.regarding, event_type, &reason, &message);
    Err(incomplete)
}

/// The delay before the same call is made again: a driver's delay is kept exactly, and an operation
/// that is running is not polled more often because of an event. After a failure without a delay, an
/// event may cause a retry before the backoff ends.
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

fn is_running<W>(result: &Result<W::Response, DriverError>) -> bool
where
    W: Webhook<Response: OperationResponse>,
{
    let response = result.as_ref();
    response.is_ok_and(|response| response.status() == Status::Running)
}

/// Returns a wait to report if a webhook has responded `Running` for at least `Options::long_wait`.
fn long_running(context: &Context, operand: Operand<'_>, webhook: &'static str) -> Option<Wait> {
    let stored = stored_since(operand.conditions, webhook);
    let since = context.waits.begin(operand.key?, webhook, stored);
    let is_long = since.lasted >= context.options.long_wait;
    is_long.then(|| Wait::still_running(webhook, since.at))
}

/// In a dry run a driver is called only if it accepts that, and nothing follows from its response
/// (b148).
async fn dry_run<W>(context: &Context, driver: &LoadBalancerDriver, request: W::Request)
where
    W: Webhook<Request: OperationRequest, Response: OperationResponse>,
{
    let (webhook, key) = (W::INFO.name, ObjectKey::of(driver));
    if !driver.spec.accept_dry_run_call {
        tracing::info!(webhook, driver = %key, "dry run: would call the driver, which accepts no dry-run calls");
        return;
    }
    let request = request.into_dry_run();
    match context.drivers.call::<W>(driver, &request).await {
        Ok(response) => {
            let (status, message) = (response.status(), response.message());
            tracing::info!(webhook, driver = %key, ?status, message, "dry run: called the driver");
        }
        Err(error) => {
            let error = in_full(&error);
            tracing::warn!(webhook, driver = %key, error, "dry run: calling the driver failed");
        }
    }
}

/// A new `retryID` (b102).
pub(crate) fn retry_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
