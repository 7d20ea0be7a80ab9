//! Reads a map of strings as any type that serde reads.
//!
//! Nothing stands in between: a field's text goes to the field's type as it is, so that reading
//! costs what the values themselves need.

mod list;
mod text;

use super::problem::{Problem, What};
use super::recorder::Recorder;
use crate::webhook::StringMap;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor,
    value::MapAccessDeserializer,
};
use serde::forward_to_deserialize_any;
use std::cell::Cell;
use std::collections::btree_map;
use text::{Place, Text};

/// Reads the map; the first problem ends it.
pub(super) fn read<T: DeserializeOwned>(
    map: &StringMap,
    recorder: Option<&Recorder>,
) -> Result<T, Problem> {
    match T::deserialize(Map { map, recorder }) {
        // A struct with a flattened map does not tell its fields' names beforehand, so that its
        // empty texts are known for fields only when they are read.
        Err(problem) if *problem.what() == What::Empty && problem.key().is_some() => {
            without_empty_fields(map, problem, recorder)
        }
        read => read,
    }
}

fn without_empty_fields<T: DeserializeOwned>(
    map: &StringMap,
    mut problem: Problem,
    recorder: Option<&Recorder>,
) -> Result<T, Problem> {
    let mut rest = map.clone();
    loop {
        let is_there = problem.key().is_some_and(|key| rest.remove(key).is_some());
        if *problem.what() != What::Empty || !is_there {
            return Err(with_empty_told(problem, map));
        }
        match T::deserialize(Map {
            map: &rest,
            recorder,
        }) {
            Ok(value) => return Ok(value),
            Err(next) => problem = next,
        }
    }
}

/// A field that is there, with nothing in it, is not missing for the one who wrote it.
fn with_empty_told(problem: Problem, map: &StringMap) -> Problem {
    let is_there = problem.key().is_some_and(|key| map.contains_key(key));
    if *problem.what() == What::Missing && is_there {
        problem.but_empty()
    } else {
        problem
    }
}

/// A map of strings as something to deserialize from.
#[derive(Clone, Copy)]
struct Map<'r, 'de> {
    map: &'de StringMap,
    recorder: Option<&'r Recorder>,
}

impl<'r, 'de> Map<'r, 'de> {
    fn entries(self, names: &'static [&'static str]) -> Entries<'r, 'de> {
        Entries {
            entries: self.map.iter(),
            names,
            now: ("", ""),
            is_field: Cell::new(false),
            recorder: self.recorder,
        }
    }

    fn is_empty(self) -> Result<(), Problem> {
        if let Some(recorder) = self.recorder {
            recorder.names(&[]);
        }
        match self.map.keys().next() {
            Some(key) => Err(serde::de::Error::unknown_field(key, &[])),
            None => Ok(()),
        }
    }
}

impl<'de> Deserializer<'de> for Map<'_, 'de> {
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
        if let Some(recorder) = self.recorder {
            recorder.names(names);
        }
        visitor
            .visit_map(self.entries(names))
            .map_err(|problem| with_empty_told(problem, self.map))
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

/// The entries of a map, one after the other.
struct Entries<'r, 'de> {
    entries: btree_map::Iter<'de, String, String>,
    /// The names of a struct's fields, whose empty texts are as good as absent. To leave them out
    /// here saves the second reading that a struct which does not tell its names needs.
    names: &'static [&'static str],
    now: (&'de str, &'de str),
    /// Whether the key was read as a field's name.
    is_field: Cell<bool>,
    recorder: Option<&'r Recorder>,
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        for (key, value) in self.entries.by_ref() {
            if value.is_empty() && self.names.contains(&key.as_str()) {
                continue;
            }
            self.now = (key, value);
            if let Some(recorder) = self.recorder {
                recorder.reads(key);
            }
            self.is_field.set(false);
            let text = Text::new(key, Place::Key(&self.is_field), None);
            let read = seed.deserialize(text);
            return match read {
                Ok(key) => Ok(Some(key)),
                Err(problem) if problem.key().is_none() => Err(problem.at(key, value)),
                Err(problem) => Err(problem),
            };
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let (key, value) = self.now;
        let place = if self.is_field.get() {
            Place::Field
        } else {
            Place::Value
        };
        seed.deserialize(Text::new(value, place, self.recorder))
            .map_err(|problem| problem.at(key, value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Whether the text is JSON that begins like this.
fn is_json(text: &str, begin: char) -> bool {
    text.trim_start().starts_with(begin) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text that looks like a list is read as JSON.
pub(super) fn is_json_list(text: &str) -> bool {
    is_json(text, '[')
}

/// A word as something to deserialize from.
fn word(text: &str) -> serde::de::value::BorrowedStrDeserializer<'_, Problem> {
    serde::de::value::BorrowedStrDeserializer::new(text)
}
