//! Decoding of protobuf bodies.
//!
//! kubectl's typed clients send protobuf and accept JSON. So only decoding is needed, and only of
//! the kinds that `kubectl create` sends; `protobuf/messages.json` lists them with the numbers, names and
//! types of their fields. Bodies of other kinds are refused with 415.

use std::collections::HashMap;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::object::{self, Object};

/// The prefix of every Kubernetes protobuf body.
const MAGIC: &[u8] = b"k8s\0";

#[derive(Deserialize)]
struct Messages {
    /// The message of each API version and kind.
    kinds: HashMap<String, String>,
    messages: HashMap<String, MessageFields>,
}

/// Fields by number: a name and a type.
///
/// The type is one of those in [`field`], or the name of a message; `[]` stands before the type of a repeated field,
/// `=` before that of a message that JSON leaves out, whose field 1 it is.
type MessageFields = HashMap<u64, (String, String)>;

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let file = include_str!("protobuf/messages.json");
    serde_json::from_str(file).unwrap_or_else(|_| Messages {
        kinds: HashMap::new(),
        messages: HashMap::new(),
    })
});

/// Decodes an object; `None` if the kind is not known here or the body is malformed.
pub(super) fn decode(body: &[u8]) -> Option<Object> {
    let (mut head, mut raw) = (Object::new(), None);
    let mut reader = WireReader(body.strip_prefix(MAGIC)?);
    while let Some((number, value)) = reader.field()? {
        match (number, value) {
            (1, WireValue::Bytes(bytes)) => head = message(bytes, "TypeMeta")?,
            (2, WireValue::Bytes(bytes)) => raw = Some(bytes),
            _ => {}
        }
    }
    let word = |key: &str| head.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut object = message(raw?, message_of(word("apiVersion"), word("kind"))?)?;
    object.extend(head);
    Some(object)
}

fn message_of(api_version: &str, kind: &str) -> Option<&'static str> {
    if kind == "DeleteOptions" {
        // Clients send the version of the object that they delete.
        return Some("DeleteOptions");
    }
    let name = MESSAGES.kinds.get(&format!("{api_version} {kind}"))?;
    Some(name)
}

enum WireValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

struct WireReader<'a>(&'a [u8]);

impl<'a> WireReader<'a> {
    /// The next field and its number; `Some(None)` at the end, `None` if it is malformed.
    #[expect(
        clippy::option_option,
        reason = "nonsense, end and field are three things"
    )]
    fn field(&mut self) -> Option<Option<(u64, WireValue<'a>)>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let tag = self.number()?;
        let raw = match tag & 7 {
            0 => WireValue::Number(self.number()?),
            1 => WireValue::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                WireValue::Bytes(self.take(length)?)
            }
            5 => WireValue::Bytes(self.take(4)?),
            _ => return None,
        };
        Some(Some((tag >> 3, raw)))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn message(bytes: &[u8], name: &str) -> Option<Object> {
    let fields = MESSAGES.messages.get(name)?;
    let mut object = Object::new();
    let mut reader = WireReader(bytes);
    while let Some((number, raw)) = reader.field()? {
        let Some((name, field_type)) = fields.get(&number) else {
            continue;
        };
        let (single, repeated) = match field_type.strip_prefix("[]") {
            Some(single) => (single, true),
            None => (field_type.as_str(), false),
        };
        let value = field(raw, single)?;
        // Kubernetes encodes unset fields as zero values; a count and a bool may be set to them.
        let unset = value.is_null()
            || value == json!("")
            || value == json!({})
            || (value == json!(0) && single != "count");
        match object.get_mut(name) {
            Some(Value::Array(list)) if repeated => list.push(value),
            _ if repeated => _ = object.insert(name.clone(), json!([value])),
            _ if unset => {}
            Some(Value::Object(map)) if is_map(single) => map.append(&mut object::object(value)),
            _ => _ = object.insert(name.clone(), value),
        }
    }
    Some(object)
}

fn field(raw: WireValue<'_>, field_type: &str) -> Option<Value> {
    Some(match (field_type, raw) {
        ("text", WireValue::Bytes(text)) => Value::from(std::str::from_utf8(text).ok()?),
        ("integer" | "count", WireValue::Number(number)) => Value::from(number.cast_signed()),
        ("bool", WireValue::Number(flag)) => Value::from(flag != 0),
        ("flag", WireValue::Number(0)) => Value::Null,
        ("flag", WireValue::Number(_)) => Value::Bool(true),
        ("texts" | "bytes", WireValue::Bytes(entry)) => map_entry(entry, field_type == "bytes")?,
        ("quantities", WireValue::Bytes(entry)) => quantity_entry(entry)?,
        ("time", WireValue::Bytes(inner)) => time(inner)?,
        ("intOrString", WireValue::Bytes(inner)) => int_or_string(inner)?,
        (name, WireValue::Bytes(inner)) => match name.strip_prefix('=') {
            Some(name) => match WireReader(inner).field()? {
                Some((1, WireValue::Bytes(inner))) => Value::Object(message(inner, name)?),
                _ => Value::Null,
            },
            None => Value::Object(message(inner, name)?),
        },
        _ => return None,
    })
}

fn is_map(field_type: &str) -> bool {
    matches!(field_type, "texts" | "bytes" | "quantities")
}

/// A map with one entry; bytes are in base64.
fn map_entry(bytes: &[u8], in_base64: bool) -> Option<Value> {
    let (mut key, mut value) = (String::new(), Value::from(""));
    let mut reader = WireReader(bytes);
    while let Some((number, raw)) = reader.field()? {
        match (number, raw) {
            (1, WireValue::Bytes(text)) => key = std::str::from_utf8(text).ok()?.to_owned(),
            (2, WireValue::Bytes(bytes)) if in_base64 => {
                value = Value::from(STANDARD.encode(bytes));
            }
            (2, WireValue::Bytes(text)) => value = Value::from(std::str::from_utf8(text).ok()?),
            _ => {}
        }
    }
    Some(json!({key: value}))
}

fn quantity_entry(bytes: &[u8]) -> Option<Value> {
    let mut entry = message(bytes, "QuantityEntry")?;
    let key = entry.get("key").and_then(Value::as_str)?.to_owned();
    let quantity = entry.get_mut("value").map(|v| v["string"].take());
    Some(json!({key: quantity}))
}

fn time(bytes: &[u8]) -> Option<Value> {
    let time = message(bytes, "Time")?;
    let Some(seconds) = time.get("seconds").and_then(Value::as_i64) else {
        return Some(Value::Null);
    };
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(Value::from(time.to_string()))
}

fn int_or_string(bytes: &[u8]) -> Option<Value> {
    let mut found = message(bytes, "IntOrString")?;
    let is_text = found.contains_key("type");
    let value = found.remove(if is_text { "text" } else { "number" });
    Some(value.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A namespace `demo`, as kubectl encodes it.
    const BODY: &[u8] = b"k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12\x1c\n\x14\n\x04demo\x12\0\x1a\0\"\0*\x002\08\0B\0\x12\0\x1a\x02\n\0\x1a\0\"\0";

    #[test]
    fn a_namespace_is_read() {
        let object = decode(BODY).unwrap();
        let expected =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo"}});
        assert_eq!(Value::Object(object), expected);
    }

    #[test]
    fn maps_lists_and_ports_are_read() {
        let service = b"\n\x0f\n\x01s\x5a\x06\n\x01a\x12\x01b\x72\x02f1\x12\x0e\n\x08\x18\x50\x22\x04\x08\x01\x1a\x00\x22\x02IP";
        let object = message(service, message_of("v1", "Service").unwrap()).unwrap();
        assert_eq!(object["metadata"]["labels"], json!({"a": "b"}));
        assert_eq!(object["metadata"]["finalizers"], json!(["f1"]));
        assert_eq!(object["spec"]["ports"][0]["port"], 80);
    }

    #[test]
    fn quantities_and_hidden_messages_are_read() {
        let quota = b"\x12\x0e\x0a\x0c\x0a\x04pods\x12\x04\x0a\x0210";
        let object = message(quota, message_of("v1", "ResourceQuota").unwrap()).unwrap();
        assert_eq!(object["spec"]["hard"], json!({"pods": "10"}));
        let ingress = b"\x12\x0a\x1a\x08\x12\x06\x0a\x04\x0a\x02\x0a\x00";
        let object = message(
            ingress,
            message_of("networking.k8s.io/v1", "Ingress").unwrap(),
        );
        assert_eq!(
            object.unwrap()["spec"]["rules"][0]["http"]["paths"],
            json!([{}])
        );
    }

    #[test]
    fn a_grace_period_of_zero_is_kept() {
        let options = message_of("apps/v1", "DeleteOptions").unwrap();
        let object = message(b"\x08\x00\x12\x03\n\x01u\x22\nForeground", options).unwrap();
        let expected = json!({
            "gracePeriodSeconds": 0, "preconditions": {"uid": "u"},
            "propagationPolicy": "Foreground",
        });
        assert_eq!(Value::Object(object), expected);
    }

    #[test]
    fn malformed_bodies_are_refused_at_every_length() {
        for end in 0..BODY.len() {
            // It may decode or not; it must not panic.
            let _ = decode(&BODY[..end]);
        }
        assert!(decode(b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").is_none());
        assert!(decode(b"k8s\0junk").is_none());
        assert!(decode(b"").is_none());
    }
}
