//! Calls side by side gone wrong: read, wait, and write back what was read.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::view;

/// Whether the call works on the list of backends that it has read before.
pub(super) fn works_from_old_news(defect: Defect, call: &Call) -> bool {
    match defect {
        Defect::LostUpdateRace => call.does("ensureBackend") || call.does("deregisterBackend"),
        Defect::EnsureDeregisterRace => call.does("deregisterBackend"),
        _ => false,
    }
}

pub(super) fn before(defect: Defect, at: &Context, call: &mut Call) {
    if works_from_old_news(defect, call) && call.existed {
        let endpoint = call.endpoint();
        call.targets_seen = endpoint.map(|endpoint| view::targets(&at.cloud, &endpoint));
    }
}

/// Writes back the list as it was, with the one change that the call is about.
pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &Answer) {
    let wrong = works_from_old_news(defect, call) && answer.is_succ();
    let (true, Some(endpoint), Some(seen)) = (wrong, call.endpoint(), &call.targets_seen) else {
        return;
    };
    let own = call.text("backendAddr");
    let now = view::targets(&at.cloud, &endpoint);
    for address in now.keys() {
        if address != own && !seen.contains_key(address) {
            let _ = at.cloud.unbind(&endpoint, address);
        }
    }
    for (address, target) in seen {
        if address != own && !now.contains_key(address) {
            let _ = at.cloud.bind(&endpoint, address, target.clone());
        }
    }
}
