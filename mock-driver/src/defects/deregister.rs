//! `deregisterBackend` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::ensure_backend::{LATER, others, unbind_foreign};
use super::ledger;

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    if !call.does("deregisterBackend") {
        return None;
    }
    let key = call.backend_key();
    let bound = || ledger::bound_parameters(at, call);
    match defect {
        Defect::DeregisterDoesNothing => Some(Answer::succ()),
        Defect::DeregUnboundFails if ledger::was_never_bound(at, call) && bound().is_none() => {
            Some(Answer::fail("NotFound: no such target"))
        }
        Defect::DeregUnknownLbFails if call.names_missing_lb() && !call.deleted_before => {
            Some(Answer::fail("NotFound: no such load balancer"))
        }
        Defect::DeregAfterDeleteFails if !call.existed && call.deleted_before => {
            Some(Answer::fail("NotFound: the load balancer was deleted"))
        }
        Defect::DeregRepeatFails if at.memory.knows("taken away", &key) && bound().is_none() => {
            Some(Answer::fail("NotFound: the target was deregistered"))
        }
        Defect::DeregFailsLater => {
            let repeated = at.memory.count(defect.id(), &key) >= LATER;
            repeated.then(|| Answer::fail("too many changes"))
        }
        Defect::DeregNeedsInjectedInfo
            if call.map("injectedInfo").is_empty() && bound().is_some() =>
        {
            Some(Answer::fail("injectedInfo.target is missing"))
        }
        Defect::DeregNeedsParameters => {
            let differs = bound()? != call.map("parameters");
            differs.then(|| Answer::fail("parameters: no target has these"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &Answer) {
    let succ = call.does("deregisterBackend") && answer.is_succ();
    let Some(endpoint) = call.endpoint().filter(|_| succ) else {
        return;
    };
    match defect {
        Defect::DeregRemovesAll => {
            for (address, _) in others(at, call, &endpoint) {
                let _ = at.cloud.unbind(&endpoint, &address);
            }
        }
        Defect::DeregRemovesForeign => unbind_foreign(at, call, &endpoint),
        _ => {}
    }
}
