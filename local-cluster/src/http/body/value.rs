//! Decoding of JSON values with limits on memory and depth, and detection of repeated keys.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The deepest nesting; stored values are traversed recursively.
pub(super) const MAX_DEPTH: usize = 128;
/// The approximate memory limit of a value, in bytes: YAML aliases expand.
const MAX_SIZE: usize = 96 * 1024 * 1024;
/// The approximate size of a value besides its text, in bytes.
const NODE: usize = 64;
const MAX_DUPLICATES: usize = 100;

/// Shared by the seeds of all nested values.
pub(super) struct DecodeState {
    left: Cell<usize>,
    duplicates: Cell<Vec<String>>,
}

impl DecodeState {
    pub(super) fn new() -> Self {
        Self {
            left: Cell::new(MAX_SIZE),
            duplicates: Cell::default(),
        }
    }

    pub(super) fn root(&self) -> ValueSeed<'_> {
        ValueSeed {
            reading: self,
            at: ValuePath::Root,
            depth: 0,
        }
    }

    /// The paths of repeated keys, each once.
    pub(super) fn duplicates(self) -> Vec<String> {
        self.duplicates.into_inner()
    }

    fn take<E: Error>(&self, size: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(size + NODE);
        let left = left.ok_or_else(|| E::custom("document contains excessive aliasing"))?;
        self.left.set(left);
        Ok(())
    }

    fn note(&self, field: String) {
        let mut duplicates = self.duplicates.take();
        if duplicates.len() < MAX_DUPLICATES && !duplicates.contains(&field) {
            duplicates.push(field);
        }
        self.duplicates.set(duplicates);
    }
}

/// The path of a value, linked to that of its parent.
#[derive(Clone, Copy)]
enum ValuePath<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Decodes the value at a path.
#[derive(Clone, Copy)]
pub(super) struct ValueSeed<'a> {
    reading: &'a DecodeState,
    at: ValuePath<'a>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom("exceeded max depth"));
        }
        deserializer.deserialize_any(self)
    }
}

impl ValueSeed<'_> {
    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.reading.take(0)?;
        Ok(value.into())
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // JSON has neither NaN nor infinities.
        let number = serde_json::Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom(format!("unsupported value: {value}")))?;
        self.scalar(number)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.reading.take(value.len())?;
        Ok(Value::from(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.reading.take(value.len())?;
        Ok(Value::from(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        self.deserialize(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.reading.take(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueSeed {
            reading: self.reading,
            at: ValuePath::Index(&self.at, list.len()),
            depth: self.depth + 1,
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.reading.take(0)?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.reading.take(key.len())?;
            let at = ValuePath::Key(&self.at, &key);
            let value = entries.next_value_seed(ValueSeed {
                reading: self.reading,
                at,
                depth: self.depth + 1,
            })?;
            if map.contains_key(&key) {
                self.reading.note(at.to_string());
            }
            // The last value wins, as on a cluster.
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
