//! Notes what a type asks for while it is read, for its schema.

use super::kind::Kind;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Listens to one reading of a map.
#[derive(Debug, Default)]
pub(super) struct Recorder(RefCell<Record>);

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The names of the fields, where the type is a struct: aliases too, in no useful order.
    pub(super) names: Option<&'static [&'static str]>,
    /// What each key was asked for.
    pub(super) asked: BTreeMap<String, Asked>,
    /// The key that is read at the moment.
    reading: Option<String>,
}

/// What the type asks of one field.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    /// What the type itself says that it expects, such as "IP address".
    pub(super) expected: Option<String>,
    /// Whether the word stands for a variant that holds something.
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

    /// The first question counts: what a type asks after that is about parts.
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

    /// An item of the list that is read at the moment is of this kind.
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
