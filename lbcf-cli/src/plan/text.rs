//! A plan for reading.

use super::{Call, Plan};
use lbcf_inspect::push_line;
use serde_json::Value;

/// A line for each call, for each kind of write, and for what is assumed.
pub(super) fn text(plan: &Plan, refused: &[String]) -> String {
    let refused = refused.iter().map(|problem| format!("refused: {problem}"));
    let mut lines: Vec<String> = refused.collect();
    lines.extend(plan.calls.iter().map(call));
    if plan.calls.is_empty() {
        lines.push("no driver is called".to_owned());
    }
    lines.extend(plan.writes.iter().map(|(key, count)| {
        let resource = key.resource.rsplit('/').next().unwrap_or_default();
        let part = match &*key.subresource {
            "" => String::new(),
            part => format!("/{part}"),
        };
        format!("writes: {count} × {} {resource}{part}", key.verb)
    }));
    lines.extend(plan.notes.iter().map(|note| format!("note: {note}")));
    let mut text = String::new();
    lines.iter().for_each(|line| push_line(&mut text, line));
    text
}

fn call(call: &Call) -> String {
    let request = &call.request;
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str);
    let backend = [
        "/podBackend/pod/metadata/name",
        "/serviceBackend/nodeName",
        "/endpointBackend/address",
    ];
    let what = text("/backendAddr")
        .or_else(|| backend.iter().find_map(|it| text(it)))
        .or_else(|| text("/name"));
    let mut parts = vec![format!("{:21}", call.webhook)];
    parts.extend(what.map(str::to_owned));
    let lb = map(&request["lbInfo"]);
    parts.extend((!lb.is_empty()).then(|| format!("at {lb}")));
    let settings = ["lbSpec", "attributes", "parameters"].map(|it| map(&request[it]));
    parts.extend(settings.into_iter().filter(|it| !it.is_empty()));
    let response = &call.response;
    match response["backendAddr"].as_str() {
        Some(address) => parts.push(format!("-> {address}")),
        None if response["status"] == "Fail" || response["succ"] == false => {
            parts.push(format!(
                "-> refused: {}",
                response["msg"].as_str().unwrap_or_default()
            ));
        }
        None => {}
    }
    parts.join(" ")
}

fn map(value: &Value) -> String {
    let entries = value.as_object().into_iter().flatten();
    let entries =
        entries.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
    entries.collect::<Vec<_>>().join(" ")
}
