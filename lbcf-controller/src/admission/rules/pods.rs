//! The selection of pods and ports (b80, b94, d21).

use super::{Labels, sizes};
use crate::admission::field_error::FieldErrors;
use crate::api::{PodSelection, PortSelector, SelectPodByLabel, allowed, syntax};
use serde_json::Value;

/// The spelling of protocols.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolCase {
    /// Upper case, for the kinds of v1beta1.
    Upper,
    /// The same, and SCTP: for endpoints (e17).
    UpperOrSctp,
    /// Any letter case, for Bind.
    Any,
}

/// Validates a selection; `raw` is the same as JSON, which may have fields that the type does not.
pub(super) fn pods(
    selection: &PodSelection,
    raw: Option<&Value>,
    case: ProtocolCase,
    errors: &mut FieldErrors,
) {
    if selection.ports.is_empty() {
        errors.push("spec.pods.ports", allowed::NEEDS_PORTS);
    }
    sizes::count(
        selection.ports.len(),
        allowed::PORTS,
        "spec.pods.ports",
        errors,
    );
    for (i, selector) in selection.ports.iter().enumerate() {
        port(selector, &format!("spec.pods.ports[{i}]"), case, errors);
    }
    match (&selection.by_label, selection.by_name.is_empty()) {
        (None, true) => errors.push("spec.pods", allowed::NEEDS_PODS),
        (Some(_), false) => errors.invalid(
            "spec.pods.byName",
            &selection.by_name,
            allowed::LABEL_OR_NAME,
        ),
        _ => {}
    }
    if let Some(by_label) = &selection.by_label {
        let raw = raw.and_then(|raw| raw.get("byLabel"));
        self::by_label(by_label, raw, errors);
    }
    sizes::texts(
        &selection.by_name,
        allowed::NAMES,
        "spec.pods.byName",
        errors,
    );
    for (i, name) in selection.by_name.iter().enumerate() {
        super::reference(name, &format!("spec.pods.byName[{i}]"), errors);
    }
}

fn by_label(by_label: &SelectPodByLabel, raw: Option<&Value>, errors: &mut FieldErrors) {
    let known = ["selector", "except"];
    let unknown: Vec<(&String, &Value)> = raw
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .collect();
    if let Some((label, value)) = unknown.first() {
        let names: Vec<_> = unknown.iter().map(|(key, _)| key.as_str()).collect();
        errors.invalid(
            "spec.pods.byLabel",
            names,
            format!(
                "allows only selector and except; labels belong into the selector, as in byLabel: {{selector: {{{label}: {}}}}}",
                value.as_str().map_or_else(|| "…".to_owned(), str::to_owned)
            ));
    } else if by_label.selector.is_empty() {
        errors.push(
            "spec.pods.byLabel.selector",
            "at least one label is required, as in byLabel: {selector: {app: my-web-server}}",
        );
    }
    labels(&by_label.selector, "spec.pods.byLabel.selector", errors);
    let except = "spec.pods.byLabel.except";
    sizes::texts(&by_label.except, allowed::NAMES, except, errors);
}

pub(super) fn labels(selector: &Labels, field: &str, errors: &mut FieldErrors) {
    sizes::count(selector.len(), allowed::SELECTOR, field, errors);
    for (key, value) in selector {
        if !syntax::is_label_key(key) {
            errors.invalid(field, key, allowed::IS_LABEL_KEY);
        }
        if !syntax::is_label_value(value) {
            errors.invalid(format!("{field}[{key}]"), value, allowed::IS_LABEL_VALUE);
        }
    }
}

pub(super) fn port(
    selector: &PortSelector,
    at: &str,
    case: ProtocolCase,
    errors: &mut FieldErrors,
) {
    let number = selector.number();
    if !(1..=65535).contains(&number) {
        let field = format!("{at}.port");
        let given = Some(number).filter(|number| *number != 0).or(selector.port);
        match given {
            Some(given) => errors.invalid(field, given, allowed::IS_PORT),
            None => errors.push(field, format!("required; {}", allowed::IS_PORT)),
        }
    }
    let protocol = selector.protocol.as_deref().unwrap_or_default();
    let is_known = ["TCP", "UDP"].iter().any(|known| match case {
        ProtocolCase::Upper | ProtocolCase::UpperOrSctp => *known == protocol,
        ProtocolCase::Any => known.eq_ignore_ascii_case(protocol),
    });
    let allowed = match case {
        ProtocolCase::UpperOrSctp if protocol == "SCTP" => return,
        ProtocolCase::UpperOrSctp => allowed::IS_ENDPOINT_PROTOCOL,
        ProtocolCase::Upper | ProtocolCase::Any => allowed::IS_PROTOCOL,
    };
    if !is_known {
        errors.invalid(format!("{at}.protocol"), protocol, allowed);
    }
}
