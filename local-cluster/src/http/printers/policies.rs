//! Access, storage and quotas.

use serde_json::Value;

use super::{list, slashed};
use crate::object::{Object, at, text};

pub(super) fn role_binding(column: &str, object: &Object) -> String {
    if column == "Role" {
        let of = |key: &str| text(object, &["roleRef", key]).unwrap_or_default();
        return format!("{}/{}", of("kind"), of("name"));
    }
    let kind = column.trim_end_matches('s');
    let named: Vec<String> = list(object, &["subjects"])
        .iter()
        .filter(|subject| subject["kind"] == kind)
        .map(|subject| {
            let name = subject["name"].as_str().unwrap_or_default();
            match subject["namespace"].as_str().unwrap_or_default() {
                "" => name.to_owned(),
                namespace => format!("{namespace}/{name}"),
            }
        })
        .collect();
    named.join(", ")
}

pub(super) fn claim(object: &Object) -> String {
    slashed(object, &["spec", "claimRef"], ["namespace", "name"]).unwrap_or_default()
}

/// `RWO` for `ReadWriteOnce`, as kubectl abbreviates access modes.
pub(super) fn access_modes(object: &Object, part: &str) -> String {
    let modes = list(object, &[part, "accessModes"]).iter();
    let short = modes.filter_map(Value::as_str).map(|mode| match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        other => other,
    });
    short.collect::<Vec<_>>().join(",")
}

pub(super) fn quota(column: &str, object: &Object) -> String {
    let hard = at(object, &["status", "hard"]).or_else(|| at(object, &["spec", "hard"]));
    let bounds = hard.and_then(Value::as_object).into_iter().flatten();
    let shown: Vec<String> = bounds
        .filter(|(name, _)| name.starts_with("limits") == (column == "Limit"))
        .map(|(name, bound)| {
            let used = text(object, &["status", "used", name]).unwrap_or("0");
            format!("{name}: {used}/{}", bound.as_str().unwrap_or_default())
        })
        .collect();
    shown.join(", ")
}
