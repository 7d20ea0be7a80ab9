//! The consequences of the reason that a driver gives for a failure. No I/O.

use crate::api::reasons::{self, ReportReason};
use lbcf_driver_sdk::webhook::{EnsureLoadBalancer, Reason, Webhook};
use std::time::Duration;

/// The longest time for which a driver is not called because of one response.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The reason of the condition after a webhook failed.
pub(super) fn condition_reason(webhook: &str, reason: Option<Reason>) -> &'static ReportReason {
    match reason {
        Some(Reason::NotFound) if webhook == EnsureLoadBalancer::INFO.name => {
            reasons::LOAD_BALANCER_GONE
        }
        Some(reason) => reasons::of_driver(reason),
        None => reasons::OPERATION_FAILED,
    }
}

/// The message of the condition: the driver's, and what the user can do.
pub(super) fn condition_message(reason: Option<Reason>, message: String) -> String {
    let advice = match reason {
        Some(Reason::InvalidArgument) => {
            "the driver will not accept the values of this object until they are changed"
        }
        Some(Reason::QuotaExceeded) => {
            "delete load balancers or backends that are not needed, or have the quota raised"
        }
        _ => return message,
    };
    match message.is_empty() {
        true => advice.to_owned(),
        false => format!("{message}; {advice}"),
    }
}

/// The time in which the driver is not called for other objects, because its cloud limits the calls.
pub(super) fn pause(
    reason: Option<Reason>,
    retry_delay: Option<Duration>,
    poll_interval: Duration,
) -> Option<Duration> {
    let is_throttled = reason == Some(Reason::Throttled);
    is_throttled.then(|| retry_delay.unwrap_or(poll_interval).min(MAX_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "createLoadBalancer";
    const ENSURE: &str = "ensureLoadBalancer";
    const BACKEND: &str = "ensureBackend";

    #[test]
    fn d98_d99_d115_the_condition_has_the_reason_of_the_driver() {
        for reason in Reason::ALL {
            assert_eq!(condition_reason(CREATE, Some(reason)), reason.name());
        }
        for (webhook, reason, expected) in [
            (CREATE, None, "OperationFailed"),
            (ENSURE, None, "OperationFailed"),
            (ENSURE, Some(Reason::NotFound), "LoadBalancerGone"),
            (BACKEND, Some(Reason::NotFound), "NotFound"),
            (BACKEND, Some(Reason::QuotaExceeded), "QuotaExceeded"),
            (CREATE, Some(Reason::QuotaExceeded), "QuotaExceeded"),
            (ENSURE, Some(Reason::InvalidArgument), "InvalidArgument"),
            (CREATE, Some(Reason::Throttled), "Throttled"),
            (CREATE, Some(Reason::Conflict), "Conflict"),
            (CREATE, Some(Reason::Unavailable), "Unavailable"),
            (CREATE, Some(Reason::PermissionDenied), "PermissionDenied"),
            (CREATE, Some(Reason::Internal), "Internal"),
        ] {
            assert_eq!(condition_reason(webhook, reason), expected, "{webhook}");
        }
    }

    #[test]
    fn d116_the_message_is_the_drivers_and_then_what_the_user_can_do() {
        let advice = "the driver will not accept the values of this object until they are changed";
        let invalid = Some(Reason::InvalidArgument);
        let message = |reason, message: &str| condition_message(reason, message.to_owned());
        assert_eq!(message(invalid, "port: 0"), format!("port: 0; {advice}"));
        assert_eq!(message(invalid, ""), advice);
        let full = message(Some(Reason::QuotaExceeded), "lb-1 has 100 targets");
        assert!(full.starts_with("lb-1 has 100 targets; delete "), "{full}");
        for reason in [None, Some(Reason::Throttled), Some(Reason::NotFound)] {
            assert_eq!(message(reason, "as it is"), "as it is");
        }
    }

    #[test]
    fn d117_only_a_cloud_that_limits_calls_pauses_its_driver_for_a_minute_at_most() {
        let (poll, named) = (Duration::from_secs(10), Duration::from_secs(3));
        let throttled = Some(Reason::Throttled);
        assert_eq!(pause(throttled, Some(named), poll), Some(named));
        assert_eq!(pause(throttled, None, poll), Some(poll));
        assert_eq!(pause(throttled, Some(Duration::MAX), poll), Some(MAX_PAUSE));
        assert_eq!(pause(throttled, None, Duration::MAX), Some(MAX_PAUSE));
        let others = Reason::ALL.into_iter().map(Some);
        let others = others.filter(|reason| *reason != throttled);
        for reason in others.chain([None]) {
            assert_eq!(pause(reason, Some(named), poll), None, "{reason:?}");
        }
    }
}
