//! Defects of `deregisterBackend`.

use crate::Defect;
use crate::driver::Driver;
use crate::ensure_backend::{LATER, others, unbind_foreign};
use crate::history::{self, DEREGISTERED};
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use std::time::Duration;
use tokio::time::sleep;

/// How long the drain of [`Defect::CancelIgnored`] goes on after its cancellation.
const DRAIN: Duration = Duration::from_millis(100);

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
        Defect::CancelIgnored
            if bound().is_some() && !driver.memory.contains(defect.id(), &key) =>
        {
            driver.memory.put(defect.id(), &key, true);
            Some(Reply::running("the target drains"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &Reply) {
    if defect == Defect::CancelIgnored && reply.is_succ() {
        end_drain(defect, driver, request);
    }
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

/// A drain that another webhook than `deregisterBackend` ends removes the backend later.
fn end_drain(defect: Defect, driver: &Driver, request: &HookRequest) {
    let key = request.backend_key();
    let is_change = request.does("ensureBackend") || request.does("deregisterBackend");
    if !is_change || !driver.memory.contains(defect.id(), &key) {
        return;
    }
    driver.memory.remove(defect.id(), &key);
    let (cloud, address) = (driver.cloud.clone(), request.text("backendAddr").to_owned());
    if let Some(endpoint) = request.endpoint().filter(|_| request.is("ensureBackend")) {
        tokio::spawn(async move {
            sleep(DRAIN).await;
            let _ = cloud.unbind(&endpoint, &address);
        });
    }
}
