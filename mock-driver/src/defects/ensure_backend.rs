//! `ensureBackend` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::ledger;
use super::view;
use crate::cloud::{Endpoint, Target};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::json;

/// How often what fails later succeeds.
pub(super) const LATER: u64 = 6;

pub(super) fn before(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    if !call.does("ensureBackend") {
        return None;
    }
    let key = call.backend_key();
    let wanted = call.map("parameters");
    let bound = || ledger::bound_parameters(at, call);
    match defect {
        Defect::EnsureDoesNothing if call.existed => Some(Answer::succ()),
        Defect::EnsureDropsParameters => {
            call.set("parameters", json!(null));
            None
        }
        Defect::FirstBindDropsParameters => {
            if bound().is_none() {
                call.set("parameters", json!(null));
            }
            None
        }
        Defect::EnsureAlreadyBoundFails if bound().as_ref() == Some(&wanted) => {
            Some(Answer::fail("Duplicate: the target is registered already"))
        }
        Defect::EnsureFailsOnRepeat => {
            let repeated = at.memory.count(defect.id(), &format!("{key} {wanted:?}")) >= LATER;
            repeated.then(|| Answer::fail("too many changes"))
        }
        Defect::EnsureDuplicatesBinding => {
            call.noted = bound().as_ref() == Some(&wanted);
            None
        }
        Defect::EnsureCachedByRecordId if at.memory.knows(defect.id(), call.record_id()) => {
            Some(Answer::succ())
        }
        Defect::OtherRecordIdFails if bound().is_some() => {
            let owner = at.memory.get(defect.id(), &key)?;
            (owner != call.record_id())
                .then(|| Answer::fail("the target belongs to another record"))
        }
        Defect::NeedsInjectedInfo if call.map("injectedInfo").is_empty() && bound().is_some() => {
            Some(Answer::fail("injectedInfo.target is missing"))
        }
        Defect::EchoedInjectedInfoFails if !call.map("injectedInfo").is_empty() => {
            Some(Answer::fail("injectedInfo: no such parameter"))
        }
        Defect::EmptyInjectedInfoFails if call.get("injectedInfo") == Some(&json!({})) => {
            Some(Answer::fail("injectedInfo.target is missing"))
        }
        Defect::ExternalUnbindIgnored => {
            (at.memory.get(defect.id(), &key) == Some(json!(wanted))).then(Answer::succ)
        }
        Defect::DeregBlocksRebind if at.memory.knows("taken away", &key) => Some(Answer::succ()),
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if call.does("deregisterBackend") && answer.is_succ() {
        at.memory
            .forget(Defect::ExternalUnbindIgnored.id(), &call.backend_key());
    }
    if !call.does("ensureBackend") {
        return;
    }
    let names_missing_lb = call.names_missing_lb();
    match defect {
        Defect::BindsToUnknownLb if names_missing_lb => *answer = Answer::succ(),
        Defect::BindToUnknownLb500 if names_missing_lb => *answer = Answer::crash("NotFound"),
        _ => {}
    }
    let Some(endpoint) = call.endpoint().filter(|_| call.existed && answer.is_succ()) else {
        return;
    };
    let key = call.backend_key();
    match defect {
        Defect::EnsureDuplicatesBinding | Defect::DuplicateBindingRace if call.noted => {
            let target = view::stray(call.map("parameters"));
            at.cloud
                .bind_again(&endpoint, call.text("backendAddr"), target);
        }
        Defect::EnsureCachedByRecordId => at.memory.put(defect.id(), call.record_id(), true),
        Defect::OtherRecordIdFails => at.memory.put(defect.id(), &key, call.record_id()),
        Defect::NeedsInjectedInfo
        | Defect::EchoedInjectedInfoFails
        | Defect::DeregNeedsInjectedInfo => {
            answer.set("injectedInfo", json!({"target": "tgt-1"}));
        }
        Defect::EnsureReplacesOthers => {
            for (address, _) in others(at, call, &endpoint) {
                let _ = at.cloud.unbind(&endpoint, &address);
            }
        }
        Defect::EnsureResetsOthers => {
            for (address, _) in others(at, call, &endpoint) {
                if is_meant(at, call, &address) {
                    let target = view::stray(StringMap::new());
                    let _ = at.cloud.bind(&endpoint, &address, target);
                }
            }
        }
        Defect::PruneForeign => unbind_foreign(at, call, &endpoint),
        Defect::ExternalUnbindIgnored => {
            at.memory
                .put(defect.id(), &key, json!(call.map("parameters")));
        }
        _ => {}
    }
}

/// Takes away what nobody asked this driver for.
pub(super) fn unbind_foreign(at: &Context, call: &Call, endpoint: &Endpoint) {
    for (address, _) in others(at, call, endpoint) {
        if !is_meant(at, call, &address) {
            let _ = at.cloud.unbind(endpoint, &address);
        }
    }
}

/// The backends that the call is not about.
pub(super) fn others(
    at: &Context,
    call: &Call,
    endpoint: &Endpoint,
) -> impl Iterator<Item = (String, Target)> {
    let mut targets = view::targets(&at.cloud, endpoint);
    targets.remove(call.text("backendAddr"));
    targets.into_iter()
}

fn is_meant(at: &Context, call: &Call, address: &str) -> bool {
    let key = format!("{} {address}", call.load_balancer_key());
    at.memory.knows("meant", &key)
}
