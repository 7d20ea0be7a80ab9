//! Values as they are read: how much they take of memory is limited, and keys that come twice are
//! noticed.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How deep values may lie in each other; what is stored is walked through by recursion.
pub(super) const MAX_DEPTH: usize = 128;
/// How much a value may take of memory, roughly: YAML's aliases make much of little.
const MAX_SIZE: usize = 96 * 1024 * 1024;
/// What each value takes besides its text.
const NODE: usize = 64;
/// How many repeated keys are remembered.
const MAX_DUPLICATES: usize = 100;

/// What is noticed while a value is read.
pub(super) struct Reading {
    left: Cell<usize>,
    duplicates: Cell<Vec<String>>,
}

impl Reading {
    pub(super) fn new() -> Self {
        Self {
            left: Cell::new(MAX_SIZE),
            duplicates: Cell::default(),
        }
    }

    /// A value that stands alone.
    pub(super) fn root(&self) -> Place<'_> {
        Place {
            reading: self,
            at: At::Root,
            depth: 0,
        }
    }

    /// The fields that were there more than once, each named once.
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

/// Where a value lies.
#[derive(Clone, Copy)]
enum At<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Reads the value at a place.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    reading: &'a Reading,
    at: At<'a>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom("exceeded max depth"));
        }
        deserializer.deserialize_any(self)
    }
}

impl Place<'_> {
    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.reading.take(0)?;
        Ok(value.into())
    }
}

impl<'de> Visitor<'de> for Place<'_> {
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
        // JSON has no numbers that are none.
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
        while let Some(item) = items.next_element_seed(Place {
            reading: self.reading,
            at: At::Index(&self.at, list.len()),
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
            let at = At::Key(&self.at, &key);
            let value = entries.next_value_seed(Place {
                reading: self.reading,
                at,
                depth: self.depth + 1,
            })?;
            if map.contains_key(&key) {
                self.reading.note(at.to_string());
            }
            // The last one counts, as on a cluster.
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
