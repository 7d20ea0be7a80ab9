//! Calling an operation's webhook, and what its ends mean for the object, its key and people.

use crate::api::{LoadBalancerDriver, reasons};
use crate::cluster::EventType::{Normal, Warning};
use crate::context::Context;
use crate::error_text::in_full;
use crate::key::ObjectKey;
use crate::work::Progress;
use kube::Resource;
use lbcf_driver_sdk::webhook::{OperationRequest, OperationResponse, Status, Webhook};

/// The reasons under which the ends other than success stand in an object's events. They are the
/// original's, which do not all follow one rule (b102 to b104, b120 to b123).
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventReasons {
    /// The driver is still at it.
    pub(crate) running: &'static str,
    /// The driver says that it failed.
    pub(crate) failed: &'static str,
    /// There was no answer, or none that can be read.
    pub(crate) invalid: &'static str,
}

/// Creating a load balancer.
pub(crate) const CREATING: EventReasons = EventReasons {
    running: "RunningCreateLoadBalancer",
    failed: "FailedCreateLoadBalancer",
    invalid: "InvalidCreateLoadBalancer",
};
/// Changing a load balancer's attributes.
pub(crate) const ENSURING: EventReasons = EventReasons {
    running: "RunningEnsureLoadBalancer",
    failed: "FailedEnsureLoadBalancer",
    invalid: "InvalidEnsureLoadBalancer",
};
/// Deleting a load balancer.
pub(crate) const DELETING: EventReasons = EventReasons {
    running: "RunningDeleteLoadBalancer",
    failed: "FailedDeleteLoadBalancer",
    invalid: "InvalidDeleteLoadBalancer",
};

/// The operation did not succeed, or not yet.
#[derive(Debug)]
pub(crate) enum NotDone {
    /// The driver is still at it: look again then.
    Running(Progress),
    /// It failed.
    Failed {
        /// Why, for a condition.
        reason: &'static str,
        /// Why, for people.
        message: String,
        /// When it is tried again.
        then: Progress,
    },
}

impl NotDone {
    /// When it goes on, where nothing is to be said about a failure but the event.
    pub(crate) fn then(self) -> Progress {
        match self {
            Self::Running(then) | Self::Failed { then, .. } => then,
        }
    }
}

/// Calls an operation's webhook once, about an object or, where it is named, one part of it. Success is the caller's to tell; every other end is told in
/// the object's events.
pub(crate) async fn operate<W, K>(
    context: &Context,
    (object, part): (&K, &str),
    driver: &LoadBalancerDriver,
    events: EventReasons,
    request: &W::Request,
) -> Result<W::Response, NotDone>
where
    W: Webhook<Request: OperationRequest + Clone, Response: OperationResponse>,
    K: Resource<DynamicType = ()>,
{
    if context.options.dry_run {
        rehearse::<W>(context, driver, request).await;
        return Err(NotDone::Running(Progress::Settled));
    }
    let response = match context.drivers.call::<W>(driver, request).await {
        Ok(response) => response,
        Err(error) => {
            let message = in_full(&error);
            let driver = ObjectKey::of(driver);
            tracing::warn!(webhook = W::INFO.name, %driver, error = message, "no answer");
            context.report_part(object, part, Warning, events.invalid, message.clone());
            let then = Progress::Retry(None);
            return Err(NotDone::Failed {
                reason: error.reason(),
                message,
                then,
            });
        }
    };
    let message = response.message();
    let driver = ObjectKey::of(driver);
    tracing::debug!(webhook = W::INFO.name, %driver, status = ?response.status(), message);
    match response.status() {
        Status::Succ => Ok(response),
        Status::Running => {
            context.report_part(
                object,
                part,
                Normal,
                events.running,
                format!("msg: {message}"),
            );
            // d22: a driver's own delay is kept exactly.
            let delay = response.min_retry_delay();
            Err(NotDone::Running(Progress::After(
                delay.unwrap_or(context.options.poll_interval),
            )))
        }
        Status::Fail => {
            tracing::warn!(webhook = W::INFO.name, %driver, message, "the driver failed");
            context.report_part(
                object,
                part,
                Warning,
                events.failed,
                format!("msg: {message}"),
            );
            Err(NotDone::Failed {
                reason: reasons::OPERATION_FAILED,
                message: message.to_owned(),
                then: Progress::Retry(response.min_retry_delay()),
            })
        }
    }
}

/// In a dry run a driver is called only if it accepts that, and nothing follows from its answer
/// (b148).
async fn rehearse<W>(context: &Context, driver: &LoadBalancerDriver, request: &W::Request)
where
    W: Webhook<Request: OperationRequest + Clone, Response: OperationResponse>,
{
    let (webhook, key) = (W::INFO.name, ObjectKey::of(driver));
    if !driver.spec.accept_dry_run_call {
        tracing::info!(webhook, driver = %key, "dry run: would call the driver, which accepts no dry-run calls");
        return;
    }
    let request = request.clone().into_dry_run();
    match context.drivers.call::<W>(driver, &request).await {
        Ok(response) => {
            let (status, message) = (response.status(), response.message());
            tracing::info!(webhook, driver = %key, ?status, message, "dry run: called the driver");
        }
        Err(error) => {
            let error = in_full(&error);
            tracing::warn!(webhook, driver = %key, error, "dry run: no answer");
        }
    }
}

/// A fresh `retryID` (b102).
pub(crate) fn retry_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
