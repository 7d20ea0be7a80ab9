//! Defects of `listBackends`.

use crate::Defect;
use crate::driver::Driver;
use crate::ensure_backend::unbind_foreign;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use serde_json::{Value, json};

const FIRST_PAGE: usize = 20;

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if defect == Defect::ListKeepsDeregistered
        && request.does("deregisterBackend")
        && reply.is_succ()
    {
        remember(driver, request);
    }
    if !request.is("listBackends") {
        return;
    }
    match defect {
        Defect::ListEmpty => reply.remove("backends"),
        Defect::ListKeepsDeregistered => {
            let mut listed = backends(reply);
            let known: Vec<Value> = listed.iter().map(|it| it["backendAddr"].clone()).collect();
            let left = remembered(driver, request).into_iter();
            listed.extend(left.filter(|it| !known.contains(&it["backendAddr"])));
            reply.set("backends", listed);
        }
        Defect::ListRemovesForeign => {
            if let Some(endpoint) = request.endpoint() {
                unbind_foreign(driver, request, &endpoint);
            }
        }
        Defect::ListFirstPage => {
            let mut listed = backends(reply);
            listed.truncate(FIRST_PAGE);
            reply.set("backends", listed);
        }
        Defect::ListWithoutForeign => {
            let mut listed = backends(reply);
            listed.retain(|it| it["recordID"].is_string());
            reply.set("backends", listed);
        }
        Defect::ListNull if backends(reply).is_empty() => reply.set("backends", Value::Null),
        Defect::ListPagesByPosition => repeat_last(request, reply),
        Defect::ListOfAll => {
            let mut listed = backends(reply);
            let known: Vec<Value> = listed.iter().map(|it| it["backendAddr"].clone()).collect();
            listed.extend(all(driver).filter(|it| !known.contains(&it["backendAddr"])));
            reply.set("backends", listed);
        }
        Defect::ListOwnRecordId => mark(reply, request.record_id(), true),
        Defect::ListMarksForeign => mark(reply, "ensureBackend(0)", false),
        Defect::ListUnknownLb if request.names_missing_lb() => {
            *reply = Reply::succ();
            reply.set("backends", all(driver).collect::<Vec<_>>());
        }
        _ => {}
    }
}

/// The backends of all load balancers.
fn all(driver: &Driver) -> impl Iterator<Item = Value> {
    let load_balancers = driver.cloud.observe().load_balancers.into_iter();
    let all = load_balancers.flat_map(|load_balancer| load_balancer.backends);
    all.map(|it| json!({"backendAddr": it.addr}))
}

/// Begins a page with the last backend of the page before, which is the one in its `continue`.
fn repeat_last(request: &HookRequest, reply: &mut Reply) {
    let before = request.text("continue");
    if before.is_empty() || request.endpoint().is_none() {
        return;
    }
    let mut listed = backends(reply);
    listed.insert(0, json!({"backendAddr": before}));
    listed.truncate(
        usize::try_from(request.get("limit").and_then(Value::as_u64).unwrap_or(1)).unwrap_or(1),
    );
    reply.set("backends", listed);
}

fn backends(reply: &Reply) -> Vec<Value> {
    let backends = reply.get("backends").and_then(Value::as_array);
    backends.cloned().unwrap_or_default()
}

/// Sets the recordID of the listed backends that have one, or of those that have none.
fn mark(reply: &mut Reply, record_id: &str, is_marked: bool) {
    let mut listed = backends(reply);
    for backend in &mut listed {
        if backend["recordID"].is_string() == is_marked {
            backend["recordID"] = record_id.into();
        }
    }
    reply.set("backends", listed);
}

fn remember(driver: &Driver, request: &HookRequest) {
    let mut left = remembered(driver, request);
    left.push(json!({"backendAddr": request.text("backendAddr")}));
    let scope = Defect::ListKeepsDeregistered.id();
    driver
        .memory
        .put(scope, &request.load_balancer_key(), Value::from(left));
}

fn remembered(driver: &Driver, request: &HookRequest) -> Vec<Value> {
    let scope = Defect::ListKeepsDeregistered.id();
    let left = driver.memory.get(scope, &request.load_balancer_key());
    let left = left.as_ref().and_then(Value::as_array);
    left.cloned().unwrap_or_default()
}
