//! Defects of `generateBackendAddr`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use serde_json::{Map, Value, json};

pub(crate) fn before(defect: Defect, request: &mut HookRequest) -> Option<Reply> {
    if !request.is("generateBackendAddr") {
        return None;
    }
    match defect {
        Defect::NodeAddressOnly
            if is_object(request, "serviceBackend")
                && field(request, "/serviceBackend/nodeAddress").is_none() =>
        {
            Some(Reply::fail("the node has no address"))
        }
        Defect::PodAsStringOnly
            if field(request, "/podBackend/pod").is_some_and(|it| !it.is_string()) =>
        {
            Some(Reply::fail("podBackend.pod: not a string"))
        }
        Defect::NeedsParameters if request.get("parameters").is_none_or(Value::is_null) => {
            Some(Reply::crash("'NoneType' object is not subscriptable"))
        }
        Defect::ParametersKeyNeeded if request.get("parameters").is_none() => {
            Some(Reply::crash("KeyError: 'parameters'"))
        }
        Defect::EndpointBesidePodRefused
            if is_object(request, "endpointBackend") && is_object(request, "podBackend") =>
        {
            Some(Reply::fail("the request names two backends"))
        }
        Defect::LegacyPortOnly => {
            remove_port(request, "port");
            None
        }
        Defect::NewPortOnly => {
            remove_port(request, "portNumber");
            None
        }
        Defect::ProtocolRequired => {
            let port =
                field(request, "/podBackend/port").or(field(request, "/serviceBackend/port"))?;
            let missing = port.get("protocol").is_none();
            missing.then(|| Reply::crash("KeyError: 'protocol'"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if !request.is("generateBackendAddr") {
        return;
    }
    let is_pod = is_object(request, "podBackend");
    if defect == Defect::AddrEmptyWithoutIp && is_pod && reply.has_status("Running") {
        let pod = field(request, "/podBackend/pod/status/podIP").and_then(Value::as_str);
        if pod.unwrap_or_default().is_empty() {
            *reply = Reply::succ();
            reply.set("backendAddr", "");
        }
    }
    if !reply.is_succ() {
        return;
    }
    match defect {
        Defect::AddrWithoutProtocol => {
            let text = reply.get("backendAddr").and_then(Value::as_str);
            let addr = text
                .map(|text| text.replace("UDP", "TCP"))
                .unwrap_or_default();
            reply.set("backendAddr", addr);
        }
        Defect::AddrEmpty if is_pod => reply.set("backendAddr", ""),
        Defect::ServiceAddrEmpty if is_object(request, "serviceBackend") => {
            reply.set("backendAddr", "");
        }
        Defect::EndpointAddrIsTheServices if !is_pod => {
            let service = field(request, "/endpointBackend/service/name");
            if let Some(name) = service.and_then(Value::as_str) {
                reply.set("backendAddr", name);
            }
        }
        Defect::AddrRandom => {
            // A counter instead of a random number, so that the defect shows in each run.
            let number = driver.memory.count(defect.id(), "");
            rewrite(reply, |address| {
                address.insert("nonce".to_owned(), json!(number));
            });
        }
        Defect::AddrWithRetryId => rewrite(reply, |address| {
            address.insert("try".to_owned(), json!(request.text("retryID")));
        }),
        Defect::AddrCollidingPods if is_pod => rewrite(reply, |address| {
            address.insert("ip".to_owned(), json!("10.0.0.1"));
        }),
        Defect::AddrCollidingPorts => rewrite(reply, |address| {
            address.insert("port".to_owned(), json!(80));
        }),
        Defect::GenerateBinds if !request.dry_run() => {
            let address = reply.get("backendAddr").and_then(Value::as_str);
            if let (Some(endpoint), Some(address)) = (request.endpoint(), address) {
                let target = cloud_lookup::stray(request.map("parameters"));
                let _ = driver.cloud.bind(&endpoint, address, target);
            }
        }
        _ => {}
    }
}

fn is_object(request: &HookRequest, name: &str) -> bool {
    request.get(name).is_some_and(Value::is_object)
}

/// The value at a JSON pointer.
fn field<'a>(request: &'a HookRequest, pointer: &str) -> Option<&'a Value> {
    let (first, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    request.get(first)?.pointer(&format!("/{rest}"))
}

fn remove_port(request: &mut HookRequest, name: &str) {
    for backend in ["/podBackend/port", "/serviceBackend/port"] {
        if let Some(port) = request.pointer_mut(backend).and_then(Value::as_object_mut) {
            port.remove(name);
        }
    }
}

/// Changes the address, which the right driver writes as JSON.
fn rewrite(reply: &mut Reply, change: impl FnOnce(&mut Map<String, Value>)) {
    let address = reply.get("backendAddr").and_then(Value::as_str);
    if let Some(Ok(mut address)) = address.map(serde_json::from_str::<Map<String, Value>>) {
        change(&mut address);
        reply.set("backendAddr", Value::Object(address).to_string());
    }
}
