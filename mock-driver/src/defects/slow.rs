//! Answers that are right and late.

use super::answer::Answer;
use super::call::Call;
use super::request::is_healthz;
use super::{Defect, DefectPace};
use axum::http::StatusCode;
use std::time::Duration;

/// How much longer than needed the answer takes.
pub(super) fn extra_time(
    defect: Defect,
    pace: DefectPace,
    call: &Call,
    answer: &Answer,
) -> Duration {
    let names_missing_one = call.names_missing_lb() && !call.deleted_before;
    let (late, time) = match defect {
        // Too slow for a probe, and not for anything else.
        Defect::HealthzSlow => (is_healthz(call), pace.slow * 3 / 5),
        Defect::SlowRunning => (answer.says("Running"), pace.slow),
        Defect::SlowValidate => (
            call.is("validateLoadBalancer") || call.is("validateBackend"),
            pace.slow,
        ),
        Defect::SlowBind => (call.is("ensureBackend"), pace.slow),
        Defect::SlowerThanTimeout => (
            call.is("deregisterBackend") && answer.is_succ() && names_missing_one,
            pace.too_slow,
        ),
        Defect::RetriesByItself => (
            call.is("ensureLoadBalancer") && names_missing_one,
            pace.too_slow,
        ),
        Defect::BigBodyHangs => (
            answer.status == StatusCode::PAYLOAD_TOO_LARGE,
            pace.too_slow,
        ),
        _ => (false, Duration::ZERO),
    };
    if late { time } else { Duration::ZERO }
}

/// Whether the driver says that the cloud cannot be reached at present.
pub(super) fn cloud_is_out(answer: &Answer) -> bool {
    !answer.is_succ() && answer.message().contains("temporarily unavailable")
}
