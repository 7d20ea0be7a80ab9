//! Conversion of JSON to CEL values.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};
use kube_cel::cel::Value;
use kube_cel::cel::objects::Key;
use serde_json::Value as Json;

use crate::schema::format::{TextFormat, duration_nanos};
use crate::schema::message::Num;
use crate::schema::node::{AdditionalProperties, Node};

/// Converts JSON by its schema, or by its JSON type without one.
pub(super) fn value_of(node: Option<&Node>, json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (Num::of(number), node.map(Node::type_name)) {
            (number, Some("number")) => Value::Float(number.float()),
            (Num::Int(whole), _) => Value::Int(whole),
            (Num::Float(float), _) => Value::Float(float),
        },
        Json::String(text) => text_value(node, text),
        Json::Array(items) => {
            let item_node = node.and_then(|node| node.items.as_deref());
            let items = items.iter().map(|item| value_of(item_node, item));
            Value::List(Arc::new(items.collect()))
        }
        Json::Object(map) => {
            // Keys of maps are data; names of fields are identifiers in rules and must be escaped.
            let is_map = node.is_none_or(|node| {
                node.properties.is_empty()
                    && !matches!(node.additional, AdditionalProperties::Unspecified)
            });
            // To rules a field that is null is absent; an entry of a map is not.
            let present = map.iter().filter(|(_, inner)| is_map || !inner.is_null());
            let entries = present.map(|(name, inner)| {
                let inner = value_of(node.and_then(|node| node.child(name)), inner);
                let field = if is_map { None } else { escape(name) };
                let key = field.unwrap_or_else(|| name.clone());
                (Key::String(Arc::new(key)), inner)
            });
            Value::from(entries.collect::<HashMap<Key, Value>>())
        }
    }
}

fn text_value(node: Option<&Node>, text: &str) -> Value {
    let format = node
        .filter(|node| node.type_name() == "string")
        .and_then(|node| node.text.format);
    let special = match format {
        Some(TextFormat::Byte) => STANDARD
            .decode(text)
            .ok()
            .map(|bytes| Value::Bytes(Arc::new(bytes))),
        Some(TextFormat::Duration) => {
            duration_nanos(text).map(|nanos| Value::Duration(TimeDelta::nanoseconds(nanos)))
        }
        Some(TextFormat::DateTime) => DateTime::parse_from_rfc3339(&text.to_ascii_uppercase())
            .ok()
            .map(Value::Timestamp),
        Some(TextFormat::Date) => text
            .parse::<NaiveDate>()
            .ok()
            .map(|date| Value::Timestamp(date.and_time(NaiveTime::MIN).and_utc().fixed_offset())),
        _ => None,
    };
    special.unwrap_or_else(|| Value::String(Arc::new(text.to_owned())))
}

/// The escaped name of a field; `None` if rules cannot refer to it.
pub(super) fn escape(name: &str) -> Option<String> {
    // Words that CEL reserves.
    match name {
        "true" | "false" | "null" | "in" | "as" | "break" | "const" | "continue" | "else"
        | "for" | "function" | "if" | "import" | "let" | "loop" | "package" | "namespace"
        | "return" | "var" | "void" | "while" => return Some(format!("__{name}__")),
        _ => {}
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = after;
            continue;
        }
        match c {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            '_' => out.push('_'),
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ => return None,
        }
        rest = rest.get(c.len_utf8()..)?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_null_is_absent() {
        let field = serde_json::json!({"type": "string", "nullable": true});
        let object = serde_json::json!({"type": "object", "properties": {"a": field}});
        let map = serde_json::json!({"type": "object", "additionalProperties": field});
        for (schema, expected) in [(object, 0), (map, 1)] {
            let node = Node::read(&schema);
            let value = value_of(Some(&node), &serde_json::json!({"a": null}));
            let Value::Map(found) = value else {
                panic!("{value:?}")
            };
            assert_eq!(found.map.len(), expected, "{schema}");
        }
    }

    #[test]
    fn names_are_escaped() {
        for (name, escaped) in [
            ("name", Some("name")),
            ("namespace", Some("__namespace__")),
            ("a-b.c/d", Some("a__dash__b__dot__c__slash__d")),
            ("a__b", Some("a__underscores__b")),
            ("a_b", Some("a_b")),
            ("1a", None),
            ("ä", None),
            ("", None),
        ] {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
    }
}
