//! Field selectors: `metadata.name=x,status.phase!=Running`.

use serde_json::Value;

use crate::object::{Object, dotted};
use crate::resources::{Conversion, Kind};

/// All requirements must hold; an empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(Vec<FieldRequirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldRequirement {
    path: String,
    value: String,
    equal: bool,
}

const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject.kind", "regarding.kind"),
    ("involvedObject.namespace", "regarding.namespace"),
    ("involvedObject.name", "regarding.name"),
    ("involvedObject.uid", "regarding.uid"),
    ("involvedObject.apiVersion", "regarding.apiVersion"),
    (
        "involvedObject.resourceVersion",
        "regarding.resourceVersion",
    ),
    ("involvedObject.fieldPath", "regarding.fieldPath"),
    ("reason", "reason"),
    ("reportingComponent", "reportingController"),
    ("source", "source"),
    ("type", "type"),
];

impl FieldSelector {
    /// Parses a selector for a kind; only its selectable fields are allowed.
    pub(crate) fn parse(text: &str, kind: &Kind) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for part in split(text) {
            if part.trim().is_empty() {
                continue;
            }
            let (field, value, equal) = operands(part)
                .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{part}'"))?;
            let stored = supported(kind, field)
                .ok_or_else(|| format!("field label not supported: {field}"))?;
            requirements.push(FieldRequirement {
                path: stored.to_owned(),
                value: unescape(value),
                equal,
            });
        }
        Ok(Self(requirements))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only value that the selector allows for a field, if there is one.
    pub(crate) fn only(&self, field: &str) -> Option<&str> {
        let only = self.0.iter().find(|r| r.equal && r.path == field)?;
        Some(&only.value)
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        let holds = |r: &FieldRequirement| match dotted(object, &r.path) {
            // Flags are never empty.
            None if matches!(&*r.path, "spec.unschedulable" | "spec.hostNetwork") => {
                r.value == "false"
            }
            value => value_text(value) == r.value,
        };
        self.0.iter().all(|r| holds(r) == r.equal)
    }
}

fn value_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        // The source of an event is selected by its component.
        Some(Value::Object(map)) => map
            .get("component")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        Some(other) => other.to_string(),
    }
}

/// The stored field behind a selectable one.
fn supported<'a>(kind: &Kind, field: &'a str) -> Option<&'a str> {
    if field == "metadata.name" || (kind.namespaced && field == "metadata.namespace") {
        return Some(field);
    }
    if let Some(custom) = &kind.custom {
        return custom
            .selectable
            .iter()
            .any(|f| f == field)
            .then_some(field);
    }
    let fields: &[&'static str] = match kind.plural.as_str() {
        "events" => {
            let is_new = kind.conversion == Conversion::EventsV1;
            let mut fields = EVENT_FIELDS.iter();
            let found = fields.find(|(old, new)| field == if is_new { *new } else { *old });
            return found.map(|(old, _)| *old);
        }
        // The former name.
        "pods" if field == "spec.host" => return Some("spec.nodeName"),
        "pods" => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.hostNetwork",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        "nodes" => &["spec.unschedulable"],
        "namespaces" => &["status.phase"],
        "services" => &["spec.clusterIP", "spec.type"],
        "secrets" => &["type"],
        "replicasets" | "replicationcontrollers" => &["status.replicas"],
        "jobs" => &["status.successful"],
        "certificatesigningrequests" => &["spec.signerName"],
        "resourceslices" => &["spec.driver", "spec.nodeName"],
        _ => &[],
    };
    fields.iter().find(|f| **f == field).copied()
}

/// Splits at commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(text.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn operands(part: &str) -> Option<(&str, &str, bool)> {
    for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((field, value)) = part.split_once(operator) {
            return Some((field.trim(), value, equal));
        }
    }
    None
}

fn unescape(value: &str) -> String {
    let (mut out, mut escaped) = (String::with_capacity(value.len()), false);
    for c in value.chars() {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            out.push(c);
            escaped = false;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::Registry;
    use serde_json::json;

    fn kind(group: &str, plural: &str) -> std::sync::Arc<Kind> {
        Registry::new().builtin(group, plural).unwrap()
    }

    #[test]
    fn pods_by_phase_and_node() {
        let pods = kind("", "pods");
        let pod = object(
            json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}}),
        );
        for (text, yes) in [
            ("status.phase=Running", true),
            ("status.phase!=Running", false),
            ("spec.nodeName==n,metadata.name=p", true),
            ("status.podIP=", true),
            ("metadata.name=p\\,q", false),
            ("", true),
        ] {
            assert_eq!(
                FieldSelector::parse(text, &pods).unwrap().matches(&pod),
                yes,
                "{text}"
            );
        }
        assert!(FieldSelector::parse("spec.x=1", &pods).is_err());
        assert!(FieldSelector::parse("nonsense", &pods).is_err());
    }

    #[test]
    fn both_event_apis_select_the_stored_object() {
        let event = object(json!({"involvedObject": {"name": "p"}, "source": {"component": "c"}}));
        let old = FieldSelector::parse("involvedObject.name=p,source=c", &kind("", "events"));
        let new = FieldSelector::parse("regarding.name=p", &kind("events.k8s.io", "events"));
        assert!(old.unwrap().matches(&event));
        assert!(new.unwrap().matches(&event));
    }
}
