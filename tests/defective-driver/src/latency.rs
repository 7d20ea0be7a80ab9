//! Replies that are right and late.

use crate::Defect;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::request_form::is_healthz;
use axum::http::StatusCode;
use std::time::Duration;

/// Too slow for users, but not for the controller.
const SLOW: Duration = Duration::from_millis(2500);
/// Longer than the controller waits.
const TOO_SLOW: Duration = Duration::from_secs(11);

/// How long the reply is held back.
pub(crate) fn delay(defect: Defect, request: &HookRequest, reply: &Reply) -> Duration {
    let names_missing_one = request.names_missing_lb() && !request.deleted_before;
    let (late, time) = match defect {
        // Too slow for a probe, but not for other callers.
        Defect::HealthzSlow => (is_healthz(request), Duration::from_millis(1500)),
        Defect::SlowRunning => (reply.has_status("Running"), SLOW),
        Defect::SlowValidate => (
            request.is("validateLoadBalancer") || request.is("validateBackend"),
            SLOW,
        ),
        Defect::SlowBind => (request.is("ensureBackend"), SLOW),
        Defect::SlowerThanTimeout => (
            request.is("deregisterBackend") && reply.is_succ() && names_missing_one,
            TOO_SLOW,
        ),
        Defect::RetriesByItself => (
            request.is("ensureLoadBalancer") && names_missing_one,
            TOO_SLOW,
        ),
        Defect::BigBodyHangs => (reply.status == StatusCode::PAYLOAD_TOO_LARGE, TOO_SLOW),
        _ => (false, Duration::ZERO),
    };
    if late { time } else { Duration::ZERO }
}

/// Whether the reply reports an outage of the cloud.
pub(crate) fn is_outage(reply: &Reply) -> bool {
    !reply.is_succ() && reply.message().contains("temporarily unavailable")
}
