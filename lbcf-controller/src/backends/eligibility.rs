use crate::api::DeregisterPolicy;
use crate::index::PodView;
use crate::runtime::verdicts::DeregisterVerdict;

/// The desired registration of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Eligibility {
    Registered,
    /// It stays registered if it is, and is not registered otherwise.
    Kept,
    Deregistered,
}

/// A pod that is ready is registered under every policy (b108), one that is being deleted is
/// deregistered under every policy. The policy decides about the others (b109, b110).
pub(crate) fn eligibility_of_pod(
    pod: &PodView,
    policy: Option<DeregisterPolicy>,
    verdict: &DeregisterVerdict,
) -> Eligibility {
    if pod.is_available() {
        return Eligibility::Registered;
    }
    eligibility_of_unready(Some(pod), policy, verdict)
}

/// Applies the policy to a backend that is not ready. The policies that keep some are about pods; of an
/// endpoint without a pod only `ready` is known.
pub(crate) fn eligibility_of_unready(
    pod: Option<&PodView>,
    policy: Option<DeregisterPolicy>,
    verdict: &DeregisterVerdict,
) -> Eligibility {
    let is_kept = pod.is_some_and(|pod| {
        !pod.deleting
            && match policy.unwrap_or_default() {
                DeregisterPolicy::IfNotReady => false,
                DeregisterPolicy::IfNotRunning => pod.is_running(),
                DeregisterPolicy::Webhook => verdict.keeps(pod),
            }
    });
    if is_kept {
        Eligibility::Kept
    } else {
        Eligibility::Deregistered
    }
}
