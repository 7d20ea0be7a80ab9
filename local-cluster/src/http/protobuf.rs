//! Decoding of protobuf bodies.
//!
//! kubectl's typed clients send protobuf and accept JSON. So only decoding is needed, and only of
//! the kinds that `kubectl create` sends; tables list their fields. Bodies of other kinds are
//! refused with 415.

mod messages;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::object::{Object, child};

/// The prefix of every Kubernetes protobuf body.
const MAGIC: &[u8] = b"k8s\0";

#[derive(Clone, Copy)]
enum FieldType {
    Text,
    Integer,
    /// An integer that is kept when it is zero.
    Count,
    /// Kept when it is false, which may differ from unset.
    Bool,
    /// Omitted when it is false.
    Flag,
    Message(&'static [MessageField]),
    /// Field 1 of a message that JSON leaves out.
    Wrapped(&'static [MessageField]),
    TextMap,
    /// A map of bytes, in base64 in JSON.
    BytesMap,
    /// A map of quantities: messages with a string.
    QuantityMap,
    /// A message with seconds since 1970.
    Time,
    /// A message with a number or a string, and which of them.
    IntOrString,
}

struct MessageField {
    number: u64,
    name: &'static str,
    field_type: FieldType,
    repeated: bool,
}

const fn one(number: u64, name: &'static str, field_type: FieldType) -> MessageField {
    MessageField {
        number,
        name,
        field_type,
        repeated: false,
    }
}

const fn many(number: u64, name: &'static str, field_type: FieldType) -> MessageField {
    MessageField {
        repeated: true,
        ..one(number, name, field_type)
    }
}

use FieldType::{
    Bool, BytesMap, Count, Flag, IntOrString, Integer, Message, QuantityMap, Text, TextMap, Time,
    Wrapped,
};
use messages::message_of;

/// Decodes an object; `None` if the kind is not known here or the body is malformed.
pub(super) fn decode(body: &[u8]) -> Option<Object> {
    const TYPE: &[MessageField] = &[one(1, "apiVersion", Text), one(2, "kind", Text)];
    let (mut head, mut raw) = (Object::new(), None);
    let mut reader = WireReader(body.strip_prefix(MAGIC)?);
    while let Some((number, value)) = reader.field()? {
        match (number, value) {
            (1, WireValue::Bytes(bytes)) => head = message(bytes, TYPE)?,
            (2, WireValue::Bytes(bytes)) => raw = Some(bytes),
            _ => {}
        }
    }
    let word = |key: &str| head.get(key).and_then(Value::as_str).unwrap_or_default();
    let fields = message_of(word("apiVersion"), word("kind"))?;
    let mut object = message(raw?, fields)?;
    object.extend(head);
    Some(object)
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

fn message(bytes: &[u8], fields: &[MessageField]) -> Option<Object> {
    let mut object = Object::new();
    let mut reader = WireReader(bytes);
    while let Some((number, raw)) = reader.field()? {
        let Some(field) = fields.iter().find(|f| f.number == number) else {
            continue;
        };
        let value = match (field.field_type, raw) {
            (TextMap | BytesMap, WireValue::Bytes(entry)) => {
                let (key, value) = map_entry(entry, matches!(field.field_type, BytesMap))?;
                child(&mut object, field.name).insert(key, value);
                continue;
            }
            (QuantityMap, WireValue::Bytes(entry)) => {
                let (key, value) = quantity_entry(entry)?;
                child(&mut object, field.name).insert(key, value);
                continue;
            }
            (Text, WireValue::Bytes(text)) => Value::from(std::str::from_utf8(text).ok()?),
            (Integer | Count, WireValue::Number(number)) => Value::from(number.cast_signed()),
            (Bool, WireValue::Number(flag)) => Value::from(flag != 0),
            (Flag, WireValue::Number(0)) => continue,
            (Flag, WireValue::Number(_)) => Value::Bool(true),
            (Message(fields), WireValue::Bytes(inner)) => Value::Object(message(inner, fields)?),
            (Wrapped(fields), WireValue::Bytes(outer)) => {
                let mut outer = message(outer, &[one(1, "inner", Message(fields))])?;
                outer.remove("inner").unwrap_or_default()
            }
            (Time, WireValue::Bytes(inner)) => time(inner)?,
            (IntOrString, WireValue::Bytes(inner)) => int_or_string(inner)?,
            _ => return None,
        };
        // Kubernetes encodes unset fields as zero values.
        let unset = value == json!("")
            || value == json!({})
            || value.is_null()
            || (value == json!(0) && !matches!(field.field_type, Count));
        match (field.repeated, object.get_mut(field.name)) {
            (true, Some(Value::Array(list))) => list.push(value),
            (true, _) => {
                object.insert(field.name.to_owned(), json!([value]));
            }
            (false, _) if unset => {}
            (false, _) => {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Some(object)
}

fn map_entry(bytes: &[u8], in_base64: bool) -> Option<(String, Value)> {
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
    Some((key, value))
}

fn quantity_entry(bytes: &[u8]) -> Option<(String, Value)> {
    const QUANTITY: &[MessageField] = &[one(1, "string", Text)];
    let mut entry = message(
        bytes,
        &[one(1, "key", Text), one(2, "value", Message(QUANTITY))],
    )?;
    let key = entry.get("key").and_then(Value::as_str)?.to_owned();
    let quantity = entry.get_mut("value").map(|v| v["string"].take());
    Some((key, quantity.unwrap_or_default()))
}

fn time(bytes: &[u8]) -> Option<Value> {
    let seconds = message(bytes, &[one(1, "seconds", Integer)])?;
    let Some(seconds) = seconds.get("seconds").and_then(Value::as_i64) else {
        return Some(Value::Null);
    };
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(Value::from(time.to_string()))
}

fn int_or_string(bytes: &[u8]) -> Option<Value> {
    const FIELDS: &[MessageField] = &[
        one(1, "type", Integer),
        one(2, "number", Integer),
        one(3, "text", Text),
    ];
    let mut found = message(bytes, FIELDS)?;
    let is_text = found.contains_key("type");
    Some(
        found
            .remove(if is_text { "text" } else { "number" })
            .unwrap_or_default(),
    )
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
