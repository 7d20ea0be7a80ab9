//! Conversion of events between `v1` and `events.k8s.io/v1`.
//!
//! Controllers write the newer version, `kubectl describe` reads the older; both share their
//! objects. The older is stored, because field selectors refer to it.

use serde_json::{Value, json};

use crate::object::Object;

/// The name of a field in `v1` and in `events.k8s.io/v1`.
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

pub(crate) fn event_to_v1(mut event: Object) -> Object {
    for (old, new) in NAMES {
        if let Some(value) = event.remove(*old) {
            event.insert((*new).to_owned(), value);
        }
    }
    event
}

pub(crate) fn event_from_v1(mut event: Object) -> Object {
    for (old, new) in NAMES {
        if let Some(value) = event.remove(*new) {
            event.insert((*old).to_owned(), value);
        }
    }
    event
}

pub(super) fn event_defaults(event: &mut Object) {
    let fields = [
        ("source", json!({})),
        ("firstTimestamp", Value::Null),
        ("lastTimestamp", Value::Null),
        ("eventTime", Value::Null),
        ("reportingComponent", json!("")),
        ("reportingInstance", json!("")),
    ];
    for (key, value) in fields {
        event.entry(key).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn an_event_survives_the_round_trip() {
        let new = object(json!({
            "regarding": {"kind": "Pod"}, "note": "n", "reportingController": "c",
            "deprecatedSource": {}, "series": {"count": 2}, "type": "Normal",
        }));
        let old = event_from_v1(new.clone());
        assert_eq!(old.get("involvedObject"), Some(&json!({"kind": "Pod"})));
        assert_eq!(old.get("message"), Some(&json!("n")));
        assert_eq!(event_to_v1(old), new);
    }
}
