//! Defects of concurrent requests: read, wait, and write stale data back.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;

/// Whether the request writes back the targets that it read when it arrived.
pub(crate) fn uses_stale_targets(defect: Defect, request: &HookRequest) -> bool {
    match defect {
        Defect::LostUpdateRace => {
            request.does("ensureBackend") || request.does("deregisterBackend")
        }
        Defect::EnsureDeregisterRace => request.does("deregisterBackend"),
        _ => false,
    }
}

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) {
    if uses_stale_targets(defect, request) && request.existed {
        let endpoint = request.endpoint();
        request.targets_seen =
            endpoint.map(|endpoint| cloud_lookup::targets(&driver.cloud, &endpoint));
    }
}

/// Writes the stale targets back, with the one change that the request is for.
pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &Reply) {
    let wrong = uses_stale_targets(defect, request) && reply.is_succ();
    let (true, Some(endpoint), Some(seen)) = (wrong, request.endpoint(), &request.targets_seen)
    else {
        return;
    };
    let own = request.text("backendAddr");
    let now = cloud_lookup::targets(&driver.cloud, &endpoint);
    for address in now.keys() {
        if address != own && !seen.contains_key(address) {
            let _ = driver.cloud.unbind(&endpoint, address);
        }
    }
    for (address, target) in seen {
        if address != own && !now.contains_key(address) {
            let _ = driver.cloud.bind(&endpoint, address, target.clone());
        }
    }
}
