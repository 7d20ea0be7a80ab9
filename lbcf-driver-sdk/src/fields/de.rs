//! Deserializes a map of strings, without an intermediate representation.

mod forms;
mod list;
mod text;

pub(super) use forms::is_json_list;

use super::problem::{Problem, What};
use crate::webhook::StringMap;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor,
    value::MapAccessDeserializer,
};
use serde::forward_to_deserialize_any;
use std::cell::Cell;
use std::collections::btree_map;
use text::{Text, TextRole};

/// Reads the map up to the first problem.
pub(super) fn read<T: DeserializeOwned>(map: &StringMap) -> Result<T, Problem> {
    match T::deserialize(Map { map }) {
        // A struct with a flattened map does not pass its fields' names, so its empty fields are only
        // recognised when they are read.
        Err(problem) if *problem.what() == What::Empty && problem.key().is_some() => {
            without_empty_fields(map, problem)
        }
        read => read,
    }
}

fn without_empty_fields<T: DeserializeOwned>(
    map: &StringMap,
    mut problem: Problem,
) -> Result<T, Problem> {
    let mut rest = map.clone();
    loop {
        let is_present = problem.key().is_some_and(|key| rest.remove(key).is_some());
        if *problem.what() != What::Empty || !is_present {
            return Err(missing_as_empty(problem, map));
        }
        match T::deserialize(Map { map: &rest }) {
            Ok(value) => return Ok(value),
            Err(next) => problem = next,
        }
    }
}

/// A field with an empty text is reported as empty and not as missing.
fn missing_as_empty(problem: Problem, map: &StringMap) -> Problem {
    let is_present = problem.key().is_some_and(|key| map.contains_key(key));
    if *problem.what() == What::Missing && is_present {
        problem.into_empty()
    } else {
        problem
    }
}

#[derive(Clone, Copy)]
struct Map<'de> {
    map: &'de StringMap,
}

impl<'de> Map<'de> {
    fn entries(self, names: &'static [&'static str]) -> Entries<'de> {
        Entries {
            entries: self.map.iter(),
            names,
            current: ("", ""),
            is_field: Cell::new(false),
        }
    }

    fn is_empty(self) -> Result<(), Problem> {
        match self.map.keys().next() {
            Some(key) => Err(serde::de::Error::unknown_field(key, &[])),
            None => Ok(()),
        }
    }
}

impl<'de> Deserializer<'de> for Map<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_map(self.entries(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor
            .visit_map(self.entries(names))
            .map_err(|problem| missing_as_empty(problem, self.map))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.map.is_empty() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.is_empty()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_enum(MapAccessDeserializer::new(self.entries(&[])))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf seq
        tuple tuple_struct map identifier
    }
}

struct Entries<'de> {
    entries: btree_map::Iter<'de, String, String>,
    /// The names of a struct's fields, whose empty texts count as absent and are skipped.
    names: &'static [&'static str],
    current: (&'de str, &'de str),
    /// True when the key was read as a field's name.
    is_field: Cell<bool>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        for (key, value) in self.entries.by_ref() {
            if value.is_empty() && self.names.contains(&key.as_str()) {
                continue;
            }
            self.current = (key, value);
            self.is_field.set(false);
            let text = Text::new(key, TextRole::Key(&self.is_field));
            return match seed.deserialize(text) {
                Ok(key) => Ok(Some(key)),
                Err(problem) if problem.key().is_none() => Err(problem.at(key, value)),
                Err(problem) => Err(problem),
            };
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let (key, value) = self.current;
        let role = if self.is_field.get() {
            TextRole::Field
        } else {
            TextRole::Value
        };
        seed.deserialize(Text::new(value, role))
            .map_err(|problem| problem.at(key, value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}
