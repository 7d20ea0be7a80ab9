//! The fast way of reading: straight from the bytes into the type, no JSON value in between.
//!
//! What controllers really send is spelled as declared, so it needs none of the work that
//! [`any_case`](super::any_case) does for the rest. This reader may give up on anything at any
//! time, and says no more than that; the slow way then decides, and words the complaint. What it
//! does read is exactly what the slow way would have read. Hence some of what looks like an
//! effort for nothing:
//!
//! * What is skipped is looked at all the same: a number out of range or bytes that are no UTF-8
//!   spoil a body wherever they stand, and `serde_json` would skip over them.
//! * A field of the specification's that stands twice, or in another letter case, is left to the
//!   slow way, which knows who wins.
//! * Text and numbers are offered to the type as what they are and not as what it asks for. What
//!   asks for just anything gets objects and lists from a value, with their keys in that value's
//!   order and each key once.

use super::any_case::AnyCase;
use super::lenient;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny,
    IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// Reads what is an object and as plain as controllers write it; nothing when it is not.
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

fn give_up<E: Error>() -> E {
    E::custom("this is for the slow way")
}

/// Which keys mean a field of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The specification's objects: any spelling of its name.
    AnyCase,
    /// Kubernetes' objects: its name as declared.
    Declared,
}

/// Whatever reads (a deserializer, an access, a seed), with this module's rules around it.
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
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Stream<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        match self.names {
            Names::AnyCase => self.inner.deserialize_any(Scalars(visitor)),
            Names::Declared => self.deserialize_ignored_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_option(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_seq(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        match self.names {
            Names::AnyCase => self.inner.deserialize_map(Struct { visitor, fields }),
            // These types know their fields' names, and no others. A field that stands twice is
            // what it is in a value, the last one, or is refused by the type.
            Names::Declared => self.deserialize_map(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name == lenient::KUBERNETES_OBJECTS {
            return self.inner.deserialize_any(Stream {
                inner: visitor,
                names: Names::Declared,
            });
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_enum(name, variants, UnitVariants(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct identifier
    }
}

/// The visits that need no wrapping.
macro_rules! visit_scalars {
    ($inner:tt) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.$inner.expecting(f)
        }
        fn visit_bool<E: Error>(self, value: bool) -> Result<V::Value, E> {
            self.$inner.visit_bool(value)
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<V::Value, E> {
            self.$inner.visit_i64(value)
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<V::Value, E> {
            self.$inner.visit_u64(value)
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
            self.$inner.visit_f64(value)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
            self.$inner.visit_str(text)
        }
        fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
            self.$inner.visit_unit()
        }
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Stream<V> {
    type Value = V::Value;

    visit_scalars!(inner);

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.around(value);
        self.inner.visit_some(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        let items = self.around(items);
        self.inner.visit_seq(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let entries = self.around(entries);
        self.inner.visit_map(entries)
    }
}

/// What asks for anything; only scalars go straight to it.
struct Scalars<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Scalars<V> {
    type Value = V::Value;

    visit_scalars!(0);

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        let value = Value::deserialize(SeqAccessDeserializer::new(items))?;
        let read = AnyCase(value).deserialize_any(self.0);
        read.map_err(|_| give_up())
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(entries))?;
        let read = AnyCase(value).deserialize_any(self.0);
        read.map_err(|_| give_up())
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

/// A map's entries: the keys are data. A map keeps the last of equal keys, as the slow way does.
impl<'de, A: MapAccess<'de>> MapAccess<'de> for Stream<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.inner.next_key_seed(Text(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.around(seed);
        self.inner.next_value_seed(seed)
    }
}

/// A map's key, which is text and nothing else. `serde_json` would read numbers from it.
struct Text<T>(T);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Text<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Text(key))
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Text<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// An object that a struct of the specification is read from.
struct Struct<V> {
    visitor: V,
    fields: &'static [&'static str],
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Struct<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Fields {
            entries,
            fields: self.fields,
            seen: 0,
        })
    }
}

/// The entries of an object that are fields of the struct.
struct Fields<A> {
    entries: A,
    fields: &'static [&'static str],
    /// A bit for each field that was there.
    seen: u128,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let name = Name {
            fields: self.fields,
        };
        while let Some(field) = self.entries.next_key_seed(name)? {
            let Some((at, field)) = field else {
                self.next_value_seed(PhantomData::<IgnoredAny>)?;
                continue;
            };
            let bit = u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at));
            let bit = bit.filter(|bit| self.seen & bit == 0);
            self.seen |= bit.ok_or_else(give_up)?;
            return seed.deserialize(field.into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let names = Names::AnyCase;
        self.entries.next_value_seed(Stream { inner: seed, names })
    }
}

/// Tells which field a key names, if any.
#[derive(Clone, Copy)]
struct Name {
    fields: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<(usize, &'static str)>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_any(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<(usize, &'static str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        let mut fields = self.fields.iter().copied().enumerate();
        let found = fields.find(|(_, field)| *field == key);
        let is_spelling = |field: &&str| field.eq_ignore_ascii_case(key);
        if found.is_none() && self.fields.iter().any(is_spelling) {
            return Err(give_up());
        }
        Ok(found)
    }
}

/// An enum's variants without content. Content is rare, and has rules of its own.
struct UnitVariants<T>(T);

impl<'de, V: Visitor<'de>> Visitor<'de> for UnitVariants<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(UnitVariants(variant))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for UnitVariants<A> {
    type Error = A::Error;
    type Variant = UnitVariants<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, content) = self.0.variant_seed(seed)?;
        Ok((name, UnitVariants(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for UnitVariants<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, A::Error> {
        Err(give_up())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, A::Error> {
        Err(give_up())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, A::Error> {
        Err(give_up())
    }
}

#[cfg(test)]
mod tests;
