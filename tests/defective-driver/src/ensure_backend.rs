//! Defects of `ensureBackend`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::history::{self, DEREGISTERED, ENSURED};
use crate::hook_request::HookRequest;
use crate::load_balancer::is_map;
use crate::reply::Reply;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{Endpoint, Target};
use serde_json::json;

/// How often a request succeeds that fails later.
pub(crate) const LATER: u64 = 6;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    if !request.does("ensureBackend") {
        return None;
    }
    let key = request.backend_key();
    let desired = request.map("parameters");
    let bound = || history::bound_parameters(driver, request);
    match defect {
        Defect::EnsureDoesNothing if request.existed => Some(Reply::succ()),
        Defect::EnsureDropsParameters => {
            request.set("parameters", json!(null));
            None
        }
        Defect::EnsureMergesParameters if is_map(request, "parameters") => {
            let mut merged = bound().unwrap_or_default();
            merged.extend(desired);
            request.set("parameters", json!(merged));
            None
        }
        Defect::FirstBindDropsParameters => {
            if bound().is_none() {
                request.set("parameters", json!(null));
            }
            None
        }
        Defect::EnsureAlreadyBoundFails if bound().as_ref() == Some(&desired) => {
            Some(Reply::fail("Duplicate: the target is registered already"))
        }
        Defect::EnsureFailsOnRepeat => {
            let repeated = driver
                .memory
                .count(defect.id(), &format!("{key} {desired:?}"))
                >= LATER;
            repeated.then(|| Reply::fail("too many changes"))
        }
        Defect::EnsureDuplicatesBinding | Defect::DuplicateBindingRace => {
            let bound = bound();
            if bound.is_none() {
                driver.overlay.bind_once(&key);
            }
            if defect == Defect::EnsureDuplicatesBinding {
                request.noted = bound.as_ref() == Some(&desired);
            }
            None
        }
        Defect::EnsureCachedByRecordId
            if driver.memory.contains(defect.id(), request.record_id()) =>
        {
            Some(Reply::succ())
        }
        Defect::OtherRecordIdFails if bound().is_some() => {
            let owner = driver.memory.get(defect.id(), &key)?;
            (owner != request.record_id())
                .then(|| Reply::fail("the target belongs to another record"))
        }
        Defect::NeedsInjectedInfo
            if request.map("injectedInfo").is_empty() && bound().is_some() =>
        {
            Some(Reply::fail("injectedInfo.target is missing"))
        }
        Defect::EchoedInjectedInfoFails if !request.map("injectedInfo").is_empty() => {
            Some(Reply::fail("injectedInfo: no such parameter"))
        }
        Defect::EmptyInjectedInfoFails if request.get("injectedInfo") == Some(&json!({})) => {
            Some(Reply::fail("injectedInfo.target is missing"))
        }
        Defect::ExternalUnbindIgnored => {
            (driver.memory.get(defect.id(), &key) == Some(json!(desired))).then(Reply::succ)
        }
        Defect::DeregBlocksRebind if driver.memory.contains(DEREGISTERED, &key) => {
            Some(Reply::succ())
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if request.does("deregisterBackend") && reply.is_succ() {
        let key = request.backend_key();
        driver.overlay.bind_once(&key);
        driver
            .memory
            .remove(Defect::ExternalUnbindIgnored.id(), &key);
    }
    if !request.does("ensureBackend") {
        return;
    }
    let names_missing_lb = request.names_missing_lb();
    match defect {
        Defect::BindsToUnknownLb if names_missing_lb => *reply = Reply::succ(),
        Defect::UnusableAddrSucc if request.existed && says_backend_addr(reply) => {
            *reply = Reply::succ();
        }
        Defect::BindToUnknownLb500 if names_missing_lb => *reply = Reply::crash("NotFound"),
        _ => {}
    }
    let Some(endpoint) = request
        .endpoint()
        .filter(|_| request.existed && reply.is_succ())
    else {
        return;
    };
    let key = request.backend_key();
    match defect {
        Defect::EnsureDuplicatesBinding | Defect::DuplicateBindingRace if request.noted => {
            driver.overlay.bind_again(&key);
        }
        Defect::EnsureCachedByRecordId => driver.memory.put(defect.id(), request.record_id(), true),
        Defect::OtherRecordIdFails => driver.memory.put(defect.id(), &key, request.record_id()),
        Defect::NeedsInjectedInfo
        | Defect::EchoedInjectedInfoFails
        | Defect::DeregNeedsInjectedInfo => {
            reply.set("injectedInfo", json!({"target": "tgt-1"}));
        }
        Defect::EnsureReplacesOthers => {
            for (address, _) in others(driver, request, &endpoint) {
                let _ = driver.cloud.unbind(&endpoint, &address);
            }
        }
        Defect::EnsureResetsOthers => {
            for (address, _) in others(driver, request, &endpoint) {
                if was_ensured(driver, request, &address) {
                    let target = cloud_lookup::stray(StringMap::new());
                    let _ = driver.cloud.bind(&endpoint, &address, target);
                }
            }
        }
        Defect::PruneForeign => unbind_foreign(driver, request, &endpoint),
        Defect::ExternalUnbindIgnored => {
            driver
                .memory
                .put(defect.id(), &key, json!(request.map("parameters")));
        }
        _ => {}
    }
}

fn says_backend_addr(reply: &Reply) -> bool {
    let message = reply.get("msg").and_then(|msg| msg.as_str());
    message.is_some_and(|message| message.starts_with("backendAddr"))
}

/// Unbinds the backends for which `ensureBackend` was never called.
pub(crate) fn unbind_foreign(driver: &Driver, request: &HookRequest, endpoint: &Endpoint) {
    for (address, _) in others(driver, request, endpoint) {
        if !was_ensured(driver, request, &address) {
            let _ = driver.cloud.unbind(endpoint, &address);
        }
    }
}

/// The other backends of the load balancer.
pub(crate) fn others(
    driver: &Driver,
    request: &HookRequest,
    endpoint: &Endpoint,
) -> impl Iterator<Item = (String, Target)> {
    let mut targets = cloud_lookup::targets(&driver.cloud, endpoint);
    targets.remove(request.text("backendAddr"));
    targets.into_iter()
}

fn was_ensured(driver: &Driver, request: &HookRequest, address: &str) -> bool {
    let key = format!("{} {address}", request.load_balancer_key());
    driver.memory.contains(ENSURED, &key)
}
