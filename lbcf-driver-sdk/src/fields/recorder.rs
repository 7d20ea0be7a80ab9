//! Records what a type requests while it is deserialized.

use super::kind::Kind;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Recorder(RefCell<Record>);

#[derive(Debug, Default)]
pub(super) struct Record {
    /// The names of a struct's fields and their aliases, in no useful order.
    pub(super) names: Option<&'static [&'static str]>,
    pub(super) asked: BTreeMap<String, Asked>,
    /// The key that is being read.
    reading: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    /// The type's own description, such as "IP address".
    pub(super) expected: Option<String>,
    /// True if the word names a variant with data.
    pub(super) holds_data: bool,
}

impl Recorder {
    pub(super) fn into_record(self) -> Record {
        self.0.into_inner()
    }

    pub(super) fn names(&self, names: &'static [&'static str]) {
        self.0.borrow_mut().names.get_or_insert(names);
    }

    pub(super) fn reads(&self, key: &str) {
        self.0.borrow_mut().reading = Some(key.to_owned());
    }

    /// Only the first request counts; later ones concern parts of the value.
    pub(super) fn asked(&self, kind: Kind, expected: Option<String>) {
        let mut record = self.0.borrow_mut();
        if let Some(key) = record.reading.clone() {
            let asked = Asked {
                kind,
                expected,
                holds_data: false,
            };
            record.asked.entry(key).or_insert(asked);
        }
    }

    /// The current list has items of this kind.
    pub(super) fn asked_item(&self, kind: Kind) {
        let mut record = self.0.borrow_mut();
        if let Some(key) = record.reading.clone()
            && let Some(asked) = record.asked.get_mut(&key)
            && let Kind::List(item) = &mut asked.kind
            && **item == Kind::Text
        {
            **item = kind;
        }
    }

    pub(super) fn holds_data(&self) {
        let mut record = self.0.borrow_mut();
        if let Some(key) = record.reading.clone()
            && let Some(asked) = record.asked.get_mut(&key)
        {
            asked.holds_data = true;
        }
    }
}
