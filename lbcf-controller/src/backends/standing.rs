//! Whether a backend is registered, kept or taken away.

use super::Judgement;
use crate::api::DeregisterPolicy;
use crate::index::PodView;

/// Whether a backend is to be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Yes.
    Wanted,
    /// Not anew, but what is registered stays.
    Kept,
    /// No.
    Unwanted,
}

/// A pod's standing: registered when it is ready under every policy (b108); the policy says what
/// becomes of one that is not (b109, b110). One that is being deleted goes under every policy.
#[must_use]
pub(crate) fn standing_of_pod(
    pod: &PodView,
    policy: Option<DeregisterPolicy>,
    judgement: &Judgement,
) -> Standing {
    if pod.is_available() {
        return Standing::Wanted;
    }
    let is_kept = !pod.deleting
        && match policy.unwrap_or_default() {
            DeregisterPolicy::IfNotReady => false,
            DeregisterPolicy::IfNotRunning => pod.is_running(),
            DeregisterPolicy::Webhook => judgement.keeps(pod),
        };
    if is_kept {
        Standing::Kept
    } else {
        Standing::Unwanted
    }
}
