//! `ensureLoadBalancer` and `deleteLoadBalancer` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::ensure_backend::LATER;
use super::ledger;
use super::view;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::json;

/// The attribute in which [`Defect::EnsureLbTouches`] counts.
const LAST_RUN: &str = "lastRun";

pub(super) fn before(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    if call.does("ensureLoadBalancer") {
        before_ensure(defect, at, call)
    } else if call.does("deleteLoadBalancer") {
        before_delete(defect, at, call)
    } else {
        None
    }
}

fn before_ensure(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    let wanted = call.map("attributes");
    let current = || attributes(at, call);
    match defect {
        Defect::EnsureLbFailsWhenUnchanged if current().as_ref() == Some(&wanted) => {
            Some(Answer::fail("InvalidParameter: nothing to modify"))
        }
        Defect::EnsureLbFailsOnRepeat => {
            let key = format!("{} {wanted:?}", call.load_balancer_key());
            let repeated = at.memory.count(defect.id(), &key) >= LATER;
            repeated.then(|| Answer::fail("too many changes"))
        }
        Defect::EnsureLbTouches => {
            call.noted = current().is_some_and(|mut current| {
                current.remove(LAST_RUN);
                current == wanted
            });
            None
        }
        Defect::EnsureLbCachedByRecordId if at.memory.knows(defect.id(), call.record_id()) => {
            Some(Answer::succ())
        }
        Defect::DriftNotRepaired => {
            let known = at.memory.get(defect.id(), &call.load_balancer_key());
            (known == Some(json!(wanted))).then(Answer::succ)
        }
        _ => None,
    }
}

fn before_delete(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    let no_info = call.map("lbInfo").is_empty();
    let loaded = || {
        let endpoint = call.endpoint();
        endpoint.is_some_and(|endpoint| !view::targets(&at.cloud, &endpoint).is_empty())
    };
    match defect {
        Defect::DeleteDoesNothing if !no_info => Some(Answer::succ()),
        Defect::DeleteLeavesLoadedLb if loaded() => Some(Answer::succ()),
        Defect::DeleteLoaded500 if loaded() => Some(Answer::crash("ResourceInUse")),
        Defect::DeleteAgainFails if !call.existed && call.deleted_before => {
            Some(Answer::fail("the load balancer was deleted"))
        }
        Defect::DeleteUnknownFails if !no_info && !call.existed && !call.deleted_before => {
            Some(Answer::fail("no such load balancer"))
        }
        Defect::DeleteNullFails if no_info => Some(Answer::fail("lbInfo is missing")),
        Defect::DeleteNull500 if no_info => {
            Some(Answer::crash("'NoneType' object is not subscriptable"))
        }
        Defect::DeleteEmptyDeletesAll if no_info && call.get("lbInfo") == Some(&json!({})) => {
            for made in view::made(&at.cloud) {
                let lb_info = made.endpoint.lb_info();
                let _ = at.cloud.release(&made.token, &made.endpoint, &lb_info);
            }
            None
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if defect == Defect::DriftNotRepaired && call.does("createLoadBalancer") && answer.is_succ() {
        remember_attributes_of_new(defect, at, call, answer);
    }
    if !call.does("ensureLoadBalancer") {
        return;
    }
    let names_missing_one = call.names_missing_lb();
    match defect {
        Defect::EnsureLbTouches if call.noted && answer.is_succ() => {
            if let Some(endpoint) = call.endpoint() {
                let number = at.memory.count(defect.id(), &call.load_balancer_key());
                let mut attributes = call.map("attributes");
                attributes.insert(LAST_RUN.to_owned(), number.to_string());
                let _ = at.cloud.set_attributes(&endpoint, attributes);
            }
        }
        Defect::EnsureLbCachedByRecordId if answer.is_succ() => {
            at.memory.put(defect.id(), call.record_id(), true);
        }
        Defect::DriftNotRepaired if answer.is_succ() => {
            let attributes = json!(call.map("attributes"));
            at.memory
                .put(defect.id(), &call.load_balancer_key(), attributes);
        }
        Defect::UnknownLbEnsured if names_missing_one => *answer = Answer::succ(),
        Defect::UnknownLb500 if names_missing_one => *answer = Answer::crash("NotFound"),
        _ => {}
    }
}

fn remember_attributes_of_new(defect: Defect, at: &Context, call: &Call, answer: &Answer) {
    let text = |name: &str| Some(answer.get("lbInfo")?.get(name)?.as_str()?.to_owned());
    if let (Some(instance), Some(listener)) = (ledger::instance_of(answer), text("lblID")) {
        let attributes = json!(call.map("attributes"));
        at.memory
            .put(defect.id(), &format!("{instance}/{listener}"), attributes);
    }
}

fn attributes(at: &Context, call: &Call) -> Option<StringMap> {
    let group = view::group(&at.cloud, &call.endpoint()?)?;
    Some(group.attributes)
}
