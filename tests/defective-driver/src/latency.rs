//! Replies that are right and late.

use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::request_form::is_healthz;
use crate::{Defect, DefectPace};
use axum::http::StatusCode;
use std::time::Duration;

/// How long the reply is held back.
pub(crate) fn delay(
    defect: Defect,
    pace: DefectPace,
    request: &HookRequest,
    reply: &Reply,
) -> Duration {
    let names_missing_one = request.names_missing_lb() && !request.deleted_before;
    let (late, time) = match defect {
        // Too slow for a probe, but not for other callers.
        Defect::HealthzSlow => (is_healthz(request), pace.slow * 3 / 5),
        Defect::SlowRunning => (reply.has_status("Running"), pace.slow),
        Defect::SlowValidate => (
            request.is("validateLoadBalancer") || request.is("validateBackend"),
            pace.slow,
        ),
        Defect::SlowBind => (request.is("ensureBackend"), pace.slow),
        Defect::SlowerThanTimeout => (
            request.is("deregisterBackend") && reply.is_succ() && names_missing_one,
            pace.too_slow,
        ),
        Defect::RetriesByItself => (
            request.is("ensureLoadBalancer") && names_missing_one,
            pace.too_slow,
        ),
        Defect::BigBodyHangs => (reply.status == StatusCode::PAYLOAD_TOO_LARGE, pace.too_slow),
        _ => (false, Duration::ZERO),
    };
    if late { time } else { Duration::ZERO }
}

/// Whether the reply reports an outage of the cloud.
pub(crate) fn is_outage(reply: &Reply) -> bool {
    !reply.is_succ() && reply.message().contains("temporarily unavailable")
}
