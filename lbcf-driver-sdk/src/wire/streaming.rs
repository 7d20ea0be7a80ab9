//! The fast path of reading: from bytes to the type, without a [`Value`] in between.
//!
//! Requests of real controllers spell every field as declared, so they need none of the work of
//! [`any_case`](super::any_case). This reader may fail on any input, and its errors carry no text:
//! the slow path then reads the body again and words the error. What this reader accepts is exactly
//! what the slow path reads (`tests/wire_agreement.rs`). Therefore
//!
//! * unknown fields are parsed into a [`Value`] too: numbers that are out of range and bytes that
//!   are not UTF-8, which `serde_json` would skip over, make a body invalid. Pods and services, which are kept
//!   as text, are [checked](super::checked) for them;
//! * a field of the specification that occurs twice, or in another letter case, is left to the slow
//!   path, which knows the precedence.

use super::any_case::AnyCase;
use super::{checked, lenient};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer,
    MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// Reads a JSON object whose fields are spelled as declared; `None` for anything else.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    if !body.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    // Checking the whole body once costs less than checking each of its strings.
    let mut json = serde_json::Deserializer::from_str(std::str::from_utf8(body).ok()?);
    let value = T::deserialize(Stream(&mut json));
    value.ok().filter(|_| json.end().is_ok())
}

fn use_slow_path<E: Error>() -> E {
    E::custom("left to the slow path")
}

/// A deserializer, access or seed of serde that passes the rules of this module on to whatever it reads.
struct Stream<T>(T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Stream<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let value = Value::deserialize(self.0)?;
        AnyCase(value)
            .deserialize_any(visitor)
            .map_err(|_| use_slow_path())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        Value::deserialize(self.0)?;
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Visit::new(visitor))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_seq(Visit::new(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Visit::new(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Visit {
            visitor,
            fields: Some(fields),
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name != lenient::KUBERNETES_OBJECT {
            return visitor.visit_newtype_struct(self);
        }
        let object = Box::<RawValue>::deserialize(self.0)?;
        let is_valid = object.get().starts_with('{') && checked::is_valid(object.get());
        if !is_valid {
            return Err(use_slow_path());
        }
        visitor.visit_str(object.get())
    }

    /// Only variants without content: the others have keys of their own.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let variant = String::deserialize(self.0)?;
        visitor.visit_enum(variant.into_deserializer())
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, D::Error> {
        Err(use_slow_path())
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, D::Error> {
        Err(use_slow_path())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_str(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_string(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_bool(visitor)
    }

    // Numbers and the like go by way of a value.
    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        identifier
    }
}

/// The values that an option, a list, a map or a struct may be. Anything else has no visit here, which is an
/// error.
struct Visit<V> {
    visitor: V,
    /// The fields of a struct.
    fields: Option<&'static [&'static str]>,
}

impl<V> Visit<V> {
    const fn new(visitor: V) -> Self {
        Self {
            visitor,
            fields: None,
        }
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Visit<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Stream(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Stream(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Entries {
            entries,
            fields: self.fields,
            seen: 0,
        })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Stream<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Stream(value))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Stream<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Stream(seed))
    }
}

/// The entries of an object; of a struct those that are its fields.
struct Entries<A> {
    entries: A,
    fields: Option<&'static [&'static str]>,
    /// One bit for each field that has occurred.
    seen: u64,
}

impl<'de, A: MapAccess<'de>> Entries<A> {
    /// The next key that is a field.
    fn next_field(
        &mut self,
        fields: &'static [&'static str],
    ) -> Result<Option<&'de str>, A::Error> {
        while let Some(key) = self.entries.next_key::<&'de str>()? {
            let Some((at, _)) = (0..).zip(fields).find(|(_, field)| **field == key) else {
                if fields.iter().any(|field| field.eq_ignore_ascii_case(key)) {
                    return Err(use_slow_path());
                }
                self.entries.next_value::<Value>()?;
                continue;
            };
            let bit = 1_u64.checked_shl(at).unwrap_or_default();
            if bit == 0 || self.seen & bit != 0 {
                return Err(use_slow_path());
            }
            self.seen |= bit;
            return Ok(Some(key));
        }
        Ok(None)
    }
}

/// Keys are text without escapes. As data, `serde_json` could otherwise read numbers from them.
impl<'de, A: MapAccess<'de>> MapAccess<'de> for Entries<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let key = match self.fields {
            Some(fields) => self.next_field(fields)?,
            None => self.entries.next_key::<&'de str>()?,
        };
        key.map(|key| seed.deserialize(BorrowedStrDeserializer::new(key)))
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.entries.next_value_seed(Stream(seed))
    }
}

#[cfg(test)]
mod tests;
