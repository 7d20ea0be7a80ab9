//! The fast path of reading: from bytes to the type, without a [`Value`] in between.
//!
//! Requests of real controllers spell every field as declared, so they need none of the work of
//! [`any_case`](super::any_case). This reader may fail on any input, and its errors carry no text:
//! the slow path then reads the body again and words the error. What this reader accepts is exactly
//! what the slow path reads (`tests/wire_agreement.rs`). Therefore
//!
//! * unknown fields are parsed into a [`Value`] too: numbers that are out of range and bytes that
//!   are not UTF-8, which `serde_json` would skip over, make a body invalid;
//! * a field of the specification that occurs twice, or in another letter case, is left to the slow
//!   path, which knows the precedence.

use super::any_case::AnyCase;
use super::lenient;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer,
    MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::fmt;

/// Reads a JSON object whose fields are spelled as declared; `None` for anything else.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    if !body.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = T::deserialize(Stream {
        inner: &mut json,
        names: Names::AnyCase,
    });
    value.ok().filter(|_| json.end().is_ok())
}

fn use_slow_path<E: Error>() -> E {
    E::custom("left to the slow path")
}

/// Which keys name a field of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Objects of the specification: the field's name in any letter case.
    AnyCase,
    /// Objects of Kubernetes: the field's name as declared.
    Declared,
}

/// A deserializer, access or seed of serde that passes the rules of this module on to whatever it reads.
struct Stream<T> {
    inner: T,
    names: Names,
}

impl<T> Stream<T> {
    const fn around<U>(&self, inner: U) -> Stream<U> {
        Stream {
            inner,
            names: self.names,
        }
    }

    const fn visitor<V>(&self, visitor: V) -> Visit<V> {
        Visit {
            visitor,
            names: self.names,
            fields: None,
        }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Stream<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        if self.names == Names::Declared {
            return self.inner.deserialize_any(visitor);
        }
        let value = Value::deserialize(self.inner)?;
        AnyCase(value)
            .deserialize_any(visitor)
            .map_err(|_| use_slow_path())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        Value::deserialize(self.inner)?;
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.visitor(visitor);
        self.inner.deserialize_option(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.visitor(visitor);
        self.inner.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.visitor(visitor);
        self.inner.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let mut visitor = self.visitor(visitor);
        visitor.fields = (self.names == Names::AnyCase).then_some(fields);
        self.inner.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name != lenient::KUBERNETES_OBJECTS {
            return visitor.visit_newtype_struct(self);
        }
        self.inner.deserialize_any(Visit {
            visitor,
            names: Names::Declared,
            fields: None,
        })
    }

    /// Only variants without content: the others have keys of their own.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let variant = String::deserialize(self.inner)?;
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
        self.inner.deserialize_str(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_string(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_bool(visitor)
    }

    // Numbers and the like go by way of a value.
    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        identifier
    }
}

/// The values that an option, a list, a map, a struct or an object of Kubernetes may be. Anything else has
/// no visit here, which is an error. One type for all of them, as each is compiled with everything that a
/// pod may contain.
struct Visit<V> {
    visitor: V,
    names: Names,
    /// The fields of a struct of the specification.
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Visit<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.visitor.visit_str(text)
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Stream {
            inner: value,
            names: self.names,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Stream {
            inner: items,
            names: self.names,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Entries {
            entries,
            names: self.names,
            fields: self.fields,
            seen: 0,
        })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Stream<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        let value = self.around(value);
        self.inner.deserialize(value)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Stream<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        let seed = self.around(seed);
        self.inner.next_element_seed(seed)
    }
}

/// The entries of an object; of a struct of the specification those that are its fields.
struct Entries<A> {
    entries: A,
    names: Names,
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
            let mut fields = (0..).zip(fields);
            let Some((at, field)) = fields.find(|(_, field)| field.eq_ignore_ascii_case(key))
            else {
                self.entries.next_value::<Value>()?;
                continue;
            };
            let bit = 1_u64.checked_shl(at).unwrap_or_default();
            if *field != key || bit == 0 || self.seen & bit != 0 {
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
        self.entries.next_value_seed(Stream {
            inner: seed,
            names: self.names,
        })
    }
}

#[cfg(test)]
mod tests;
