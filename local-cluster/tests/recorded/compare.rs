//! Comparison of responses with recorded ones.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::values::Values;

/// Fields without meaning for behaviour; they only have to exist.
const VOLATILE: [&str; 9] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "time",
    "continue",
    "serverAddress",
    "nodePort",
    "caBundle",
];

/// All differences between two bodies, each with its path.
pub(super) fn bodies(recorded: &Value, live: &Value, values: &Values) -> Vec<(String, String)> {
    let mut found = Vec::new();
    differ(recorded, live, values, "", &mut found);
    found
}

fn differ(
    recorded: &Value,
    live: &Value,
    values: &Values,
    path: &str,
    found: &mut Vec<(String, String)>,
) {
    let key = path.rsplit('.').next().unwrap_or_default();
    if VOLATILE.contains(&key) && recorded.is_null() == live.is_null() {
        return;
    }
    match (recorded, live) {
        (Value::Array(recorded), Value::Array(live)) if is_discovery(recorded) => {
            let (then, now) = (names(recorded, live), names(live, recorded));
            // The order of resources of one group is random in Kubernetes, too.
            if then != now && path != ".resources" {
                let what = format!("recorded in the order {then:?}, is {now:?}");
                found.push((format!("{path} order"), what));
            }
            differ(&by_name(recorded), &by_name(live), values, path, found);
        }
        (Value::Object(recorded), Value::Object(live)) => {
            for (key, recorded) in recorded {
                let path = format!("{path}.{key}");
                match live.get(key) {
                    Some(live) => differ(recorded, live, values, &path, found),
                    None if key == "managedFields" => {}
                    None => found.push((path, format!("missing, recorded {}", short(recorded)))),
                }
            }
            // The recording omits managed fields.
            let more = |key: &&String| !recorded.contains_key(*key) && *key != "managedFields";
            for key in live.keys().filter(more) {
                let path = format!("{path}.{key}");
                found.push((path, format!("not recorded, is {}", short(&live[key]))));
            }
        }
        (Value::Array(recorded), Value::Array(live)) if recorded.len() == live.len() => {
            for (index, (recorded, live)) in recorded.iter().zip(live).enumerate() {
                differ(recorded, live, values, &format!("{path}[{index}]"), found);
            }
        }
        (Value::String(recorded), Value::String(live)) if same(recorded, live, values) => {}
        (recorded, live) if recorded == live => {}
        _ => {
            let what = format!("recorded {}, is {}", short(recorded), short(live));
            found.push((path.to_owned(), what));
        }
    }
}

/// Whether a list is one of groups, resources, subresources or parameters. These are compared by
/// name, so that a missing one does not shift the others.
fn is_discovery(list: &[Value]) -> bool {
    let keys = ["versions", "verbs", "in"];
    let is = |item: &Value| keys.iter().any(|key| item.get(key).is_some());
    !list.is_empty() && list.iter().all(is)
}

fn name(item: &Value) -> &str {
    let words = ["/name", "/resource", "/subresource", "/metadata/name"];
    let found = words.iter().find_map(|p| item.pointer(p)?.as_str());
    found.unwrap_or_default()
}

fn by_name(list: &[Value]) -> Value {
    list.iter()
        .map(|item| (name(item).to_owned(), item.clone()))
        .collect()
}

/// The names that both lists contain.
fn names<'a>(list: &'a [Value], other: &[Value]) -> Vec<&'a str> {
    let names = list.iter().map(name);
    names
        .filter(|n| other.iter().any(|item| name(item) == *n))
        .collect()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Whether two texts are equal, except for generated parts.
fn same(recorded: &str, live: &str, values: &Values) -> bool {
    values.now(recorded) == live || normalised(recorded, values) == normalised(live, values)
}

/// The text with placeholders for generated parts.
fn normalised(text: &str, values: &Values) -> String {
    static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
        let parts = [
            "(?P<uid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
            // Times and ages.
            r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)",
            r"(?P<age>^(\d+[smhd])+$)",
            // Resource versions in messages.
            r"(?P<version>(resource version:? |current: )\(?\d+\)?|\(\d+\))",
            // The addresses of webhooks.
            r"(?P<webhook>127\.0\.0\.1:\d+)",
            // Hashes of documents.
            "(?P<hash>hash=[0-9A-F]{128})",
            "(?P<word>[A-Za-z0-9-]+)",
        ];
        Regex::new(&parts.join("|")).unwrap()
    });
    let name = |found: &Captures<'_>| {
        for name in ["uid", "time", "age", "version", "webhook", "hash"] {
            if found.name(name).is_some() {
                return format!("<{name}>");
            }
        }
        values.now(&found[0]).to_owned()
    };
    GENERATED.replace_all(text, name).into_owned()
}
