//! `createLoadBalancer` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::ledger;
use super::view;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// The number of the repeat at which [`Defect::CreateDuplicatesLater`] makes another one.
const LATER: u64 = 4;

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    if !call.is("createLoadBalancer") {
        return None;
    }
    let record = call.record_id();
    match defect {
        Defect::CreateFails => Some(Answer::fail("the quota is used up")),
        Defect::HttpCreateFails if call.wants_http() => {
            Some(Answer::fail("listeners for HTTP cannot be created"))
        }
        Defect::CreateDuplicates if !call.dry_run() && at.memory.knows(defect.id(), record) => {
            let number = at.memory.count("duplicates", record);
            let token = format!("{record}, once more: {number}");
            let endpoint = view::make_one_more(&at.cloud, &token)?;
            let mut answer = Answer::succ();
            answer.set("lbInfo", json!(endpoint.lb_info()));
            Some(answer)
        }
        Defect::SameSpec500 => {
            let owner = at.memory.get("owner of name", &name(call)?)?;
            let is_there =
                |made: view::Made| owner["instance"] == made.endpoint.load_balancer.as_str();
            let taken = owner["record"] != call.record_id()
                && view::made(&at.cloud).into_iter().any(is_there);
            taken.then(|| Answer::crash("IntegrityError: duplicate key"))
        }
        Defect::RecreateRefused if at.memory.knows("deleted name", &name(call)?) => {
            Some(Answer::fail("the name was used before"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if defect == Defect::RecreateRefused && call.does("deleteLoadBalancer") && answer.is_succ() {
        let instance = call.endpoint().map(|endpoint| endpoint.load_balancer);
        let name = at.memory.get("name of", &instance.unwrap_or_default());
        if let Some(Value::String(name)) = name {
            at.memory.put("deleted name", &name, true);
        }
    }
    if !call.does("createLoadBalancer") {
        return;
    }
    match defect {
        Defect::InvalidCreate400 if answer.says("Fail") => {
            *answer = Answer::error(StatusCode::BAD_REQUEST, answer.message());
        }
        Defect::InvalidLbCreated if answer.says("Fail") => {
            view::make_one_more(&at.cloud, &format!("half of {}", call.record_id()));
        }
        Defect::LbInfoEmptyValue => hand_out(at, call, answer, "listenerName", json!("")),
        Defect::LbInfoLarge => hand_out(at, call, answer, "description", json!("x".repeat(5000))),
        Defect::LbInfoChangesOnPoll => {
            let number = at.memory.count(defect.id(), "");
            hand_out(at, call, answer, "requestID", json!(number.to_string()));
        }
        Defect::CreateDuplicates if answer.is_succ() => {
            at.memory.put(defect.id(), call.record_id(), true);
        }
        Defect::CreateDuplicatesLater
            if answer.is_succ() && at.memory.count(defect.id(), call.record_id()) == LATER =>
        {
            view::make_one_more(&at.cloud, &format!("again {}", call.record_id()));
        }
        Defect::SameSpec500 | Defect::RecreateRefused if answer.is_succ() => {
            if let (Some(name), Some(instance)) = (name(call), ledger::instance_of(answer)) {
                at.memory.put("name of", &instance, name.as_str());
                let owner = json!({"record": call.record_id(), "instance": instance});
                at.memory.put("owner of name", &name, owner);
            }
        }
        _ => {}
    }
}

/// Adds a field to the identity that a creation hands out.
pub(super) fn hand_out(at: &Context, call: &Call, answer: &mut Answer, field: &str, value: Value) {
    let instance = ledger::instance_of(answer);
    let (true, Some(instance)) = (call.does("createLoadBalancer"), instance) else {
        return;
    };
    let seen = match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    let lb_info = answer.object_mut().and_then(|it| it.get_mut("lbInfo"));
    if let Some(lb_info) = lb_info.and_then(Value::as_object_mut) {
        lb_info.insert(field.to_owned(), value);
        at.handed_out.note(&instance, field, &seen);
    }
}

/// The name that the user gave the load balancer, in a field that the right driver does not know.
fn name(call: &Call) -> Option<String> {
    call.map("lbSpec").remove("name")
}
