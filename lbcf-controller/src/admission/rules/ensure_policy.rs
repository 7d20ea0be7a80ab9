//! Ensure policies (b17, b73, b96, d14).

use crate::admission::field_error::FieldErrors;
use crate::api::allowed::{self, BIND_MIN_PERIOD, MIN_PERIOD};
use crate::api::{BindEnsurePolicy, EnsurePolicy, EnsurePolicyType};
use lbcf_serving::duration;
use std::time::Duration;

pub(super) fn ensure_policy(policy: Option<&EnsurePolicy>, errors: &mut FieldErrors) {
    if let Some(policy) = policy {
        min_period(
            policy.policy,
            policy.min_period.as_deref(),
            MIN_PERIOD,
            errors,
        );
    }
}

pub(super) fn bind_ensure_policy(policy: Option<&BindEnsurePolicy>, errors: &mut FieldErrors) {
    let Some(policy) = policy else {
        return;
    };
    min_period(
        policy.policy,
        policy.min_period.as_deref(),
        BIND_MIN_PERIOD,
        errors,
    );
    if let Some(seconds) = policy.resync_period_in_seconds
        && seconds < 10
    {
        errors.invalid(
            "spec.ensurePolicy.resyncPeriodInSeconds",
            seconds,
            "must be at least 10",
        );
    }
}

fn min_period(
    policy: EnsurePolicyType,
    period: Option<&str>,
    minimum: Duration,
    errors: &mut FieldErrors,
) {
    let Some(text) = period else {
        return;
    };
    let field = "spec.ensurePolicy.minPeriod";
    if policy == EnsurePolicyType::IfNotSucc {
        errors.invalid(field, text, allowed::ONLY_WITH_ALWAYS);
        return;
    }
    match duration::parse(text) {
        Ok(period) if period >= minimum => {}
        Ok(_) => {
            let minimum = duration::display(minimum);
            errors.invalid(field, text, format!("must be at least {minimum}"));
        }
        Err(error) => errors.push(field, error.to_string()),
    }
}
