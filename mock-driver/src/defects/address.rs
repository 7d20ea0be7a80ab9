//! `generateBackendAddr` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::view;
use serde_json::{Map, Value, json};

pub(super) fn before(defect: Defect, call: &mut Call) -> Option<Answer> {
    if !call.is("generateBackendAddr") {
        return None;
    }
    match defect {
        Defect::NodeAddressOnly
            if is_object(call, "serviceBackend")
                && field(call, "/serviceBackend/nodeAddress").is_none() =>
        {
            Some(Answer::fail("the node has no address"))
        }
        Defect::PodAsStringOnly
            if field(call, "/podBackend/pod").is_some_and(|it| !it.is_string()) =>
        {
            Some(Answer::fail("podBackend.pod: not a string"))
        }
        Defect::NeedsParameters if call.get("parameters").is_none_or(Value::is_null) => {
            Some(Answer::crash("'NoneType' object is not subscriptable"))
        }
        Defect::ParametersKeyNeeded if call.get("parameters").is_none() => {
            Some(Answer::crash("KeyError: 'parameters'"))
        }
        Defect::LegacyPortOnly => {
            forget_port(call, "port");
            None
        }
        Defect::NewPortOnly => {
            forget_port(call, "portNumber");
            None
        }
        Defect::ProtocolRequired => {
            let port = field(call, "/podBackend/port").or(field(call, "/serviceBackend/port"))?;
            let missing = port.get("protocol").is_none();
            missing.then(|| Answer::crash("KeyError: 'protocol'"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is("generateBackendAddr") {
        return;
    }
    let is_pod = is_object(call, "podBackend");
    if defect == Defect::AddrEmptyWithoutIp && is_pod && answer.says("Fail") {
        let pod = field(call, "/podBackend/pod/status/podIP").and_then(Value::as_str);
        if pod.unwrap_or_default().is_empty() {
            *answer = Answer::succ();
            answer.set("backendAddr", "");
        }
    }
    if !answer.is_succ() {
        return;
    }
    match defect {
        Defect::AddrEmpty if is_pod => answer.set("backendAddr", ""),
        Defect::ServiceAddrEmpty if !is_pod => answer.set("backendAddr", ""),
        Defect::AddrRandom => {
            // A counter rather than chance: what goes wrong goes wrong every time.
            let number = at.memory.count(defect.id(), "");
            rewrite(answer, |address| {
                address.insert("nonce".to_owned(), json!(number));
            });
        }
        Defect::AddrWithRetryId => rewrite(answer, |address| {
            address.insert("try".to_owned(), json!(call.text("retryID")));
        }),
        Defect::AddrCollidingPods if is_pod => rewrite(answer, |address| {
            address.remove("ip");
        }),
        Defect::AddrCollidingPorts => rewrite(answer, |address| {
            address.remove("port");
        }),
        Defect::GenerateBinds if !call.dry_run() => {
            let address = answer.get("backendAddr").and_then(Value::as_str);
            if let (Some(endpoint), Some(address)) = (call.endpoint(), address) {
                let target = view::stray(call.map("parameters"));
                let _ = at.cloud.bind(&endpoint, address, target);
            }
        }
        _ => {}
    }
}

fn is_object(call: &Call, name: &str) -> bool {
    call.get(name).is_some_and(Value::is_object)
}

/// The value at a JSON pointer.
fn field<'a>(call: &'a Call, pointer: &str) -> Option<&'a Value> {
    let (first, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    call.get(first)?.pointer(&format!("/{rest}"))
}

fn forget_port(call: &mut Call, name: &str) {
    for backend in ["/podBackend/port", "/serviceBackend/port"] {
        if let Some(port) = call.at(backend).and_then(Value::as_object_mut) {
            port.remove(name);
        }
    }
}

/// Changes the address, which the right driver writes as JSON.
fn rewrite(answer: &mut Answer, change: impl FnOnce(&mut Map<String, Value>)) {
    let address = answer.get("backendAddr").and_then(Value::as_str);
    if let Some(Ok(mut address)) = address.map(serde_json::from_str::<Map<String, Value>>) {
        change(&mut address);
        answer.set("backendAddr", Value::Object(address).to_string());
    }
}
