//! Decoding of protobuf bodies.
//!
//! Typed Go clients send protobuf and accept JSON, so only decoding is needed: into the JSON that the same client sends
//! otherwise.

mod values;
mod wire;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use self::wire::{WireReader, WireValue};
use crate::messages::{Field, Shape, fields_of};
use crate::object::{self, Object};
use crate::resources::normalise_message;

/// The prefix of every Kubernetes protobuf body.
const MAGIC: &[u8] = b"k8s\0";
/// The most messages of a body: two bytes can be a message whose JSON has many fields.
const MAX_MESSAGES: usize = 100_000;
/// The deepest nesting of messages, and of the JSON, which must be shallow enough for JSON parsers.
const MAX_DEPTH: usize = 120;

/// Decodes an object, by default of this version and kind; `None` if its kind is unknown or the body is malformed.
pub(super) fn decode(body: &[u8], api_version: &str, kind: &str) -> Option<Object> {
    let mut decoder = Decoder {
        messages: MAX_MESSAGES,
        levels: MAX_DEPTH,
    };
    let (mut head, mut raw) = (Object::new(), None);
    let mut reader = WireReader(body.strip_prefix(MAGIC)?);
    while let Some((number, value)) = reader.field()? {
        match (number, value) {
            (1, WireValue::Bytes(bytes)) => head = decoder.message(bytes, "runtime", "TypeMeta")?,
            (2, WireValue::Bytes(bytes)) => raw = Some(bytes),
            _ => {}
        }
    }
    head.retain(|_, word| *word != "");
    for (key, default) in [("apiVersion", api_version), ("kind", kind)] {
        head.entry(key).or_insert_with(|| Value::from(default));
    }
    let word = |key| object::text(&head, &[key]).unwrap_or_default();
    // Clients send the version of the object that they delete.
    let section = match word("kind") {
        "DeleteOptions" => "meta.k8s.io/v1",
        _ => word("apiVersion"),
    };
    let mut object = decoder.message(raw?, section, word("kind"))?;
    normalise_message(&mut object, section, word("kind"), "", &mut Vec::new());
    object.extend(head);
    let is_shallow = object.values().all(|value| depth(value) < MAX_DEPTH);
    is_shallow.then_some(object)
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(list) => list.iter().map(depth).max(),
        Value::Object(map) => map.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or_default()
}

/// The messages that a body may still have, and the levels below the present one.
struct Decoder {
    messages: usize,
    levels: usize,
}

impl Decoder {
    fn message(&mut self, bytes: &[u8], section: &str, name: &str) -> Option<Object> {
        let (section, fields) = fields_of(section, name)?;
        self.messages = self.messages.checked_sub(1)?;
        self.levels = self.levels.checked_sub(1)?;
        let mut object = Object::new();
        let mut reader = WireReader(bytes);
        while let Some((number, raw)) = reader.field()? {
            if let Some((name, form)) = fields.get(&number) {
                self.add(&mut object, name, Field::of(section, form), raw)?;
            }
        }
        self.levels += 1;
        Some(object)
    }

    fn add(
        &mut self,
        object: &mut Object,
        name: &str,
        field: Field,
        raw: WireValue<'_>,
    ) -> Option<()> {
        match (field.shape, raw) {
            (Shape::List, raw) => {
                let item = self.value(raw, field)?;
                let list = object.entry(name).or_insert_with(|| json!([]));
                list.as_array_mut()?.push(item);
            }
            (Shape::Map, WireValue::Bytes(entry)) => {
                let (key, value) = self.entry(entry, field)?;
                object::child(object, name).insert(key, value);
            }
            (Shape::Map, WireValue::Number(_)) => return None,
            (Shape::Inline, raw) => object.append(self.value(raw, field)?.as_object_mut()?),
            (_, raw) => _ = object.insert(name.to_owned(), self.value(raw, field)?),
        }
        Some(())
    }

    fn entry(&mut self, bytes: &[u8], field: Field) -> Option<(String, Value)> {
        let (mut key, mut value) = (String::new(), None);
        let mut reader = WireReader(bytes);
        while let Some((number, raw)) = reader.field()? {
            match (number, raw) {
                (1, WireValue::Bytes(text)) => key = values::text(text)?,
                (2, raw) => value = Some(self.value(raw, field)?),
                _ => {}
            }
        }
        let value = match value {
            Some(value) => value,
            None => self.value(WireValue::Bytes(b""), field)?,
        };
        Some((key, value))
    }

    fn value(&mut self, raw: WireValue<'_>, field: Field) -> Option<Value> {
        let bytes = match (field.base, raw) {
            ("i", WireValue::Number(number)) => return Some(number.cast_signed().into()),
            ("b", WireValue::Number(flag)) => return Some(Value::Bool(flag != 0)),
            ("i" | "b", _) | (_, WireValue::Number(_)) => return None,
            (_, WireValue::Bytes(bytes)) => bytes,
        };
        match (field.base, field.base.strip_prefix('|')) {
            (_, Some(union)) => self.union(bytes, field.section, union),
            (base, _) if base.len() == 1 => values::special(bytes, base),
            (message, _) => Some(self.message(bytes, field.section, message)?.into()),
        }
    }

    /// A message that is its last field in JSON.
    fn union(&mut self, bytes: &[u8], section: &str, name: &str) -> Option<Value> {
        let mut object = self.message(bytes, section, name)?;
        let (_, fields) = fields_of(section, name)?;
        let mut names = fields.values().rev();
        let last = names.find_map(|(name, _)| object.remove(*name));
        Some(last.unwrap_or_default())
    }
}
