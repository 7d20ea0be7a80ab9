//! Defects of `deregisterBackend`.

use crate::Defect;
use crate::driver::Driver;
use crate::ensure_backend::{LATER, others, unbind_foreign};
use crate::history::{self, DEREGISTERED};
use crate::hook_request::HookRequest;
use crate::reply::Reply;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    if !request.does("deregisterBackend") {
        return None;
    }
    let key = request.backend_key();
    let bound = || history::bound_parameters(driver, request);
    match defect {
        Defect::DeregisterDoesNothing => Some(Reply::succ()),
        Defect::DeregUnboundFails
            if history::was_never_ensured(driver, request) && bound().is_none() =>
        {
            Some(Reply::fail("NotFound: no such target"))
        }
        Defect::DeregUnknownLbFails if request.names_missing_lb() && !request.deleted_before => {
            Some(Reply::fail("NotFound: no such load balancer"))
        }
        Defect::DeregAfterDeleteFails if !request.existed && request.deleted_before => {
            Some(Reply::fail("NotFound: the load balancer was deleted"))
        }
        Defect::DeregRepeatFails
            if driver.memory.contains(DEREGISTERED, &key) && bound().is_none() =>
        {
            Some(Reply::fail("NotFound: the target was deregistered"))
        }
        Defect::DeregFailsLater => {
            let repeated = driver.memory.count(defect.id(), &key) >= LATER;
            repeated.then(|| Reply::fail("too many changes"))
        }
        Defect::DeregNeedsInjectedInfo
            if request.map("injectedInfo").is_empty() && bound().is_some() =>
        {
            Some(Reply::fail("injectedInfo.target is missing"))
        }
        Defect::DeregNeedsParameters => {
            let differs = bound()? != request.map("parameters");
            differs.then(|| Reply::fail("parameters: no target has these"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &Reply) {
    let succ = request.does("deregisterBackend") && reply.is_succ();
    let Some(endpoint) = request.endpoint().filter(|_| succ) else {
        return;
    };
    match defect {
        Defect::DeregRemovesAll => {
            for (address, _) in others(driver, request, &endpoint) {
                let _ = driver.cloud.unbind(&endpoint, &address);
            }
        }
        Defect::DeregRemovesForeign => unbind_foreign(driver, request, &endpoint),
        _ => {}
    }
}
