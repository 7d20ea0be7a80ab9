//! Derives a type's schema by deserializing it and recording what it requests.
//!
//! A derived struct passes its fields' names, and each field requests its kind; it is required if
//! reading fails without it. Placeholder texts get the reading past earlier fields. A field that
//! accepts no placeholder is described as a text: the schema is then incomplete, but not wrong.

use super::kind::Kind;
use super::placeholders::Tried;
use super::problem::{Problem, What};
use super::recorder::{Asked, Recorder};
use super::schema::{FieldSchema, Schema};
use super::{Fields, de, ser};
use crate::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

/// A key that no type has.
const UNKNOWN: &str = "\u{0}";

impl Schema {
    /// The schema of a type.
    #[must_use]
    pub fn of<T: Fields>() -> Self {
        let mut probe = Probe::<T>::default();
        let (names, refuses_unknown) = probe.names();
        let other_keys = names.is_none() || !refuses_unknown;
        for name in names.unwrap_or_default() {
            probe.names.push((*name).to_owned());
        }
        for name in probe.names.clone() {
            probe.fill(&name);
        }
        if let Some(value) = probe.read_through()
            && names.is_none()
        {
            probe.add_written_fields(&value);
        }
        let mut names = std::mem::take(&mut probe.names);
        names.retain(|name| !probe.aliases.contains_key(name));
        let fields = names.iter().map(|name| probe.field(name)).collect();
        Self { fields, other_keys }
    }
}

struct Probe<T> {
    /// In the order of the type.
    names: Vec<String>,
    /// The current placeholder of each field.
    filled: StringMap,
    tried: BTreeMap<String, Tried>,
    /// Fields that accept no placeholder.
    opaque: BTreeSet<String>,
    /// Field names by alias.
    aliases: BTreeMap<String, String>,
    asked: BTreeMap<String, Asked>,
    reads: PhantomData<fn() -> T>,
}

impl<T> Default for Probe<T> {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            filled: StringMap::new(),
            tried: BTreeMap::new(),
            opaque: BTreeSet::new(),
            aliases: BTreeMap::new(),
            asked: BTreeMap::new(),
            reads: PhantomData,
        }
    }
}

impl<T: Fields> Probe<T> {
    /// The field names that a struct passes, if any, and whether it refuses other names. The map is
    /// not empty, because an `Option` would read that as `None`.
    fn names(&self) -> (Option<&'static [&'static str]>, bool) {
        let map = StringMap::from([(UNKNOWN.to_owned(), "1".to_owned())]);
        let recorder = Recorder::default();
        let read = de::read::<T>(&map, Some(&recorder));
        let refuses_unknown = read.is_err_and(|problem| matches!(problem.what(), What::Unknown(_)));
        (recorder.into_record().names, refuses_unknown)
    }

    fn read(&mut self, map: &StringMap) -> Result<T, Problem> {
        let recorder = Recorder::default();
        let read = de::read(map, Some(&recorder));
        for (key, asked) in recorder.into_record().asked {
            self.asked.entry(key).or_insert(asked);
        }
        read
    }

    /// Sets a field to its first placeholder.
    fn fill(&mut self, name: &str) {
        let tried = self.tried.entry(name.to_owned()).or_default();
        if let Some(text) = tried.next(&What::Missing) {
            self.filled.insert(name.to_owned(), text);
        }
    }

    /// Changes placeholders until the type accepts them all; `None` if it never does.
    fn read_through(&mut self) -> Option<T> {
        // Each round tries another placeholder or finds another name.
        for _ in 0..1000 {
            let filled = self.filled.clone();
            let problem = match self.read(&filled) {
                Ok(value) => return Some(value),
                Err(problem) => problem,
            };
            let key = problem.key()?.to_owned();
            match problem.what() {
                What::Missing if self.opaque.contains(&key) => return None,
                What::Missing => {
                    if !self.names.contains(&key) {
                        self.names.push(key.clone());
                    }
                    self.fill(&key);
                }
                What::Twice => self.find_aliases(&key)?,
                what => match self.tried.entry(key.clone()).or_default().next(what) {
                    Some(text) => {
                        self.filled.insert(key, text);
                    }
                    None => {
                        self.filled.remove(&key);
                        self.opaque.insert(key);
                    }
                },
            }
        }
        None
    }

    /// Finds the aliases of a field.
    fn find_aliases(&mut self, name: &str) -> Option<()> {
        let count = self.aliases.len();
        let texts = self.filled.clone();
        let own = texts.get(name)?;
        for (other, text) in texts.iter().filter(|(other, _)| *other != name) {
            let both = [(name, own), (other.as_str(), text)];
            let map = both
                .map(|(key, text)| (key.to_owned(), text.clone()))
                .into();
            let read = self.read(&map);
            if read.is_err_and(|problem| *problem.what() == What::Twice) {
                self.aliases.insert(other.clone(), name.to_owned());
                self.filled.remove(other);
            }
        }
        (self.aliases.len() > count).then_some(())
    }

    /// A struct with a flattened map does not pass its fields' names, but writes them.
    fn add_written_fields(&mut self, value: &T) {
        let written = ser::write(value).unwrap_or_default();
        for name in written.into_keys() {
            if !self.names.contains(&name) {
                let map = [(name.clone(), "1".to_owned())];
                let map = self.filled.clone().into_iter().chain(map).collect();
                // Only for what it requests.
                let _ = self.read(&map);
                self.names.push(name);
            }
        }
    }

    fn field(&mut self, name: &str) -> FieldSchema {
        let asked = self.asked.get(name).cloned().unwrap_or_default();
        let mut field = FieldSchema::optional_text(name);
        field.required = self.is_required(name);
        field.expected = asked.expected;
        field.kind = asked.kind;
        if let Kind::OneOf(words) = &field.kind
            && (self.accepts_any_word(name) || self.has_variant_with_data(name, words))
        {
            field.expected = Some(format!("{}, or more", field.kind));
            field.kind = Kind::Text;
        }
        let others = self.aliases.iter().filter(|(_, of)| *of == name);
        field.other_names = others.map(|(other, _)| other.clone()).collect();
        field
    }

    fn is_required(&mut self, name: &str) -> bool {
        let mut map = self.filled.clone();
        map.remove(name);
        let read = self.read(&map);
        read.is_err_and(|problem| *problem.what() == What::Missing && problem.key() == Some(name))
    }

    /// True if a field accepts a word that is not one of its variants.
    fn accepts_any_word(&mut self, name: &str) -> bool {
        let mut map = self.filled.clone();
        map.insert(name.to_owned(), UNKNOWN.to_owned());
        match self.read(&map) {
            Ok(_) => true,
            Err(problem) => problem.key() != Some(name),
        }
    }

    /// True if one of a field's variants holds data.
    fn has_variant_with_data(&mut self, name: &str, words: &[String]) -> bool {
        words.iter().any(|word| {
            let mut map = self.filled.clone();
            map.insert(name.to_owned(), word.clone());
            let recorder = Recorder::default();
            // Only for what it requests.
            let _ = de::read::<T>(&map, Some(&recorder));
            let record = recorder.into_record();
            record.asked.get(name).is_some_and(|asked| asked.holds_data)
        })
    }
}
