//! Which pods and which of their ports (b80, b94, d21).

use super::{Labels, syntax};
use crate::admission::refusal::Refusal;
use crate::api::{PodSelection, PortSelector, SelectPodByLabel};
use serde_json::Value;

/// How a protocol may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolCase {
    /// In capitals, as the older kinds have it.
    Capitals,
    /// In any letter case, as a Bind has it.
    Any,
}

/// `raw` is the selection as it was written, in which there may be what the type does not know.
pub(super) fn pods(
    selection: &PodSelection,
    raw: Option<&Value>,
    case: ProtocolCase,
    refusals: &mut Vec<Refusal>,
) {
    if selection.ports.is_empty() {
        refusals.push(Refusal::field(
            "spec.pods.ports",
            "names no port; write for example ports: [{port: 80, protocol: TCP}]",
        ));
    }
    for (i, selector) in selection.ports.iter().enumerate() {
        port(selector, &format!("spec.pods.ports[{i}]"), case, refusals);
    }
    match (&selection.by_label, selection.by_name.is_empty()) {
        (None, true) => refusals.push(Refusal::field(
            "spec.pods",
            "names no pods; write for example byLabel: {selector: {app: my-web-server}}, or byName: [my-pod-1]",
        )),
        (Some(_), false) => refusals.push(Refusal::value(
            "spec.pods.byName",
            &selection.by_name,
            "either byLabel or byName can be there, not both",
        )),
        _ => {}
    }
    if let Some(by_label) = &selection.by_label {
        let raw = raw.and_then(|raw| raw.get("byLabel"));
        self::by_label(by_label, raw, refusals);
    }
    for (i, name) in selection.by_name.iter().enumerate() {
        super::reference(name, &format!("spec.pods.byName[{i}]"), refusals);
    }
}

fn by_label(by_label: &SelectPodByLabel, raw: Option<&Value>, refusals: &mut Vec<Refusal>) {
    let known = ["selector", "except"];
    let stray: Vec<(&String, &Value)> = raw
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .collect();
    if let Some((label, value)) = stray.first() {
        let names: Vec<_> = stray.iter().map(|(key, _)| key.as_str()).collect();
        refusals.push(Refusal::value(
            "spec.pods.byLabel",
            names,
            format!(
                "only selector and except are known here, and labels go into the selector; write byLabel: {{selector: {{{label}: {}}}}}",
                value.as_str().map_or_else(|| "…".to_owned(), str::to_owned)
            ),
        ));
    } else if by_label.selector.is_empty() {
        refusals.push(Refusal::field(
            "spec.pods.byLabel.selector",
            "names no label; write for example byLabel: {selector: {app: my-web-server}}",
        ));
    }
    labels(&by_label.selector, "spec.pods.byLabel.selector", refusals);
}

pub(super) fn labels(selector: &Labels, field: &str, refusals: &mut Vec<Refusal>) {
    for (key, value) in selector {
        if !syntax::is_label_key(key) {
            refusals.push(Refusal::value(field, key, syntax::LABEL_KEY));
        }
        if !syntax::is_label_value(value) {
            refusals.push(Refusal::value(
                format!("{field}[{key}]"),
                value,
                syntax::LABEL_VALUE,
            ));
        }
    }
}

pub(super) fn port(
    selector: &PortSelector,
    at: &str,
    case: ProtocolCase,
    refusals: &mut Vec<Refusal>,
) {
    let number = selector.number();
    if !(1..=65535).contains(&number) {
        let field = format!("{at}.port");
        let given = Some(number).filter(|number| *number != 0).or(selector.port);
        let allowed = "must be a number from 1 to 65535";
        refusals.push(match given {
            Some(given) => Refusal::value(field, given, allowed),
            None => Refusal::field(field, format!("missing; {allowed}")),
        });
    }
    let protocol = selector.protocol.as_deref().unwrap_or_default();
    let is_known = ["TCP", "UDP"].iter().any(|known| match case {
        ProtocolCase::Capitals => *known == protocol,
        ProtocolCase::Any => known.eq_ignore_ascii_case(protocol),
    });
    if !is_known {
        refusals.push(Refusal::value(
            format!("{at}.protocol"),
            protocol,
            "must be TCP or UDP",
        ));
    }
}
