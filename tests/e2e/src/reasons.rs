//! What every test sees of conditions has to be in the table of reasons, with the kind.

use lbcf_controller::api::{GROUP, NamespacedKind, reasons};
use serde_json::Value;

/// # Panics
/// If a condition of an object of LBCF has a reason whose row does not name the kind.
pub(crate) fn are_in_the_table<K: NamespacedKind>(object: &K) {
    if K::group(&()) == GROUP {
        let object = serde_json::to_value(object).expect("objects are JSON");
        check(&K::kind(&()), &object["status"]);
    }
}

/// The conditions of a Bind's load balancers are deeper in its status.
fn check(kind: &str, status: &Value) {
    if let Some(reason) = status["reason"].as_str().filter(|it| !it.is_empty()) {
        let mut rows = reasons::all();
        let is_known = rows.any(|row| **row == *reason && row.kinds().contains(&kind));
        assert!(is_known, "{reason} of {kind} is not in api/reasons.rs");
    }
    match status {
        Value::Array(items) => items.iter().for_each(|it| check(kind, it)),
        Value::Object(members) => members.values().for_each(|it| check(kind, it)),
        _ => {}
    }
}
