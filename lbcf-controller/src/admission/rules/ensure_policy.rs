//! When ensuring is repeated (b17, b73, b96, d14).

use crate::admission::refusal::Refusal;
use crate::api::{BindEnsurePolicy, EnsurePolicy, EnsurePolicyType};
use crate::go_duration;
use std::time::Duration;

const MIN_PERIOD: Duration = Duration::from_secs(30);
/// A Bind may ask more often than the older kinds.
const BIND_MIN_PERIOD: Duration = Duration::from_secs(10);

pub(super) fn ensure_policy(policy: Option<&EnsurePolicy>, refusals: &mut Vec<Refusal>) {
    if let Some(policy) = policy {
        min_period(
            policy.policy,
            policy.min_period.as_deref(),
            MIN_PERIOD,
            refusals,
        );
    }
}

pub(super) fn bind_ensure_policy(policy: Option<&BindEnsurePolicy>, refusals: &mut Vec<Refusal>) {
    let Some(policy) = policy else {
        return;
    };
    min_period(
        policy.policy,
        policy.min_period.as_deref(),
        BIND_MIN_PERIOD,
        refusals,
    );
    if let Some(seconds) = policy.resync_period_in_seconds
        && seconds < 10
    {
        refusals.push(Refusal::value(
            "spec.ensurePolicy.resyncPeriodInSeconds",
            seconds,
            "must be at least 10",
        ));
    }
}

fn min_period(
    policy: EnsurePolicyType,
    period: Option<&str>,
    least: Duration,
    refusals: &mut Vec<Refusal>,
) {
    let Some(text) = period else {
        return;
    };
    let field = "spec.ensurePolicy.minPeriod";
    if policy == EnsurePolicyType::IfNotSucc {
        refusals.push(Refusal::value(
            field,
            text,
            "only for spec.ensurePolicy.policy Always",
        ));
        return;
    }
    match go_duration::parse(text) {
        Ok(period) if period >= least => {}
        Ok(_) => {
            let least = go_duration::display(least);
            refusals.push(Refusal::value(
                field,
                text,
                format!("must be at least {least}"),
            ));
        }
        Err(error) => refusals.push(Refusal::field(field, error.to_string())),
    }
}
