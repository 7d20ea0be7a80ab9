//! Defects of `createLoadBalancer`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::history;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// The repeat at which [`Defect::CreateDuplicatesLater`] creates another load balancer.
const LATER: u64 = 4;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    if !request.is("createLoadBalancer") {
        return None;
    }
    let record = &request.record_id().to_owned();
    match defect {
        Defect::CreateFails => Some(Reply::fail("the quota is used up")),
        Defect::HttpCreateFails if request.wants_http() => {
            Some(Reply::fail("listeners for HTTP cannot be created"))
        }
        Defect::CreateDuplicates
            if !request.dry_run() && driver.memory.contains(defect.id(), record) =>
        {
            let number = driver.memory.count("duplicates", record);
            let token = format!("{record}, once more: {number}");
            let endpoint = cloud_lookup::create_another(&driver.cloud, &token)?;
            let mut reply = Reply::succ();
            reply.set("lbInfo", json!(endpoint.lb_info()));
            Some(reply)
        }
        Defect::RecreateIgnoresAttributes => {
            let first = driver.memory.get(defect.id(), record);
            match first {
                Some(attributes) => request.set("attributes", attributes),
                None => {
                    let attributes = request.get("attributes").cloned().unwrap_or_default();
                    driver.memory.put(defect.id(), record, attributes);
                }
            }
            None
        }
        Defect::SameSpec500 => {
            let owner = driver.memory.get("owner of name", &name(request)?)?;
            let is_there = |made: cloud_lookup::CreatedInstance| {
                owner["instance"] == made.endpoint.load_balancer.as_str()
            };
            let taken = owner["record"] != request.record_id()
                && cloud_lookup::created_instances(&driver.cloud)
                    .into_iter()
                    .any(is_there);
            taken.then(|| Reply::crash("IntegrityError: duplicate key"))
        }
        Defect::RecreateRefused if driver.memory.contains("deleted name", &name(request)?) => {
            Some(Reply::fail("the name was used before"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if defect == Defect::RecreateRefused && request.does("deleteLoadBalancer") && reply.is_succ() {
        let instance = request.endpoint().map(|endpoint| endpoint.load_balancer);
        let name = driver.memory.get("name of", &instance.unwrap_or_default());
        if let Some(Value::String(name)) = name {
            driver.memory.put("deleted name", &name, true);
        }
    }
    if !request.does("createLoadBalancer") {
        return;
    }
    match defect {
        Defect::InvalidCreate400 if reply.has_status("Fail") => {
            *reply = Reply::error(StatusCode::BAD_REQUEST, reply.message());
        }
        Defect::InvalidLbCreated if reply.has_status("Fail") => {
            cloud_lookup::create_another(
                &driver.cloud,
                &format!("half of {}", request.record_id()),
            );
        }
        Defect::LbInfoEmptyValue => {
            add_to_identity(driver, request, reply, "listenerName", json!(""));
        }
        Defect::LbInfoLarge => add_to_identity(
            driver,
            request,
            reply,
            "description",
            json!("x".repeat(5000)),
        ),
        Defect::LbInfoChangesOnPoll => {
            let number = driver.memory.count(defect.id(), "");
            add_to_identity(
                driver,
                request,
                reply,
                "requestID",
                json!(number.to_string()),
            );
        }
        Defect::CreateDuplicates if reply.is_succ() => {
            driver.memory.put(defect.id(), request.record_id(), true);
        }
        Defect::CreateDuplicatesLater
            if reply.is_succ()
                && driver.memory.count(defect.id(), request.record_id()) == LATER =>
        {
            cloud_lookup::create_another(&driver.cloud, &format!("again {}", request.record_id()));
        }
        Defect::SameSpec500 | Defect::RecreateRefused if reply.is_succ() => {
            if let (Some(name), Some(instance)) = (name(request), history::instance_of(reply)) {
                driver.memory.put("name of", &instance, name.as_str());
                let owner = json!({"record": request.record_id(), "instance": instance});
                driver.memory.put("owner of name", &name, owner);
            }
        }
        _ => {}
    }
}

/// Adds a field to the identity that a creation returns.
pub(crate) fn add_to_identity(
    driver: &Driver,
    request: &HookRequest,
    reply: &mut Reply,
    field: &str,
    value: Value,
) {
    let instance = history::instance_of(reply);
    let (true, Some(instance)) = (request.does("createLoadBalancer"), instance) else {
        return;
    };
    let seen = match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    let lb_info = reply.object_mut().and_then(|it| it.get_mut("lbInfo"));
    if let Some(lb_info) = lb_info.and_then(Value::as_object_mut) {
        lb_info.insert(field.to_owned(), value);
        driver.overlay.add_to_identity(&instance, field, &seen);
    }
}

/// The name that the user gave the load balancer, in a field that the right driver ignores.
fn name(request: &HookRequest) -> Option<String> {
    request.map("lbSpec").remove("name")
}
