//! One event, two APIs: `v1` with an involved object, `events.k8s.io/v1` with what it regards.
//!
//! Controllers write the newer form, `kubectl describe` reads the older; both see the same objects.
//! The older form is the one that is kept, because field selectors speak of it.

use serde_json::{Value, json};

use crate::object::Object;

/// (name in v1, name in events.k8s.io/v1)
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// The newer form of a stored event.
pub(crate) fn event_to_v1(mut event: Object) -> Object {
    for (old, new) in NAMES {
        if let Some(value) = event.remove(*old) {
            event.insert((*new).to_owned(), value);
        }
    }
    event
}

/// The form to store of a newer event.
pub(crate) fn event_from_v1(mut event: Object) -> Object {
    for (old, new) in NAMES {
        if let Some(value) = event.remove(*new) {
            event.insert((*old).to_owned(), value);
        }
    }
    event
}

/// Adds the fields that an event always shows.
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
