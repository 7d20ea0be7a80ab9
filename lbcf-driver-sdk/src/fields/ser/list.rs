//! Writes a list as text: `80,443`, or as JSON where that could not be read back.

use super::text::Text;
use super::{Problem, What};
use crate::fields::de::is_json_list;
use serde::ser::{Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct};

/// What is never written as plain text.
pub(super) type NoText = Impossible<Option<String>, Problem>;

/// The items that are written so far.
#[derive(Default)]
pub(super) struct List {
    text: String,
    is_begun: bool,
}

impl List {
    fn add<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
        let item = item.serialize(Text::Item)?.unwrap_or_default();
        if item.is_empty() || item.contains(',') || item.trim() != item {
            return Err(Problem::new(What::NeedsJson));
        }
        if self.is_begun {
            self.text.push(',');
        }
        self.is_begun = true;
        self.text.push_str(&item);
        Ok(())
    }

    fn done(self) -> Result<Option<String>, Problem> {
        if is_json_list(&self.text) {
            return Err(Problem::new(What::NeedsJson));
        }
        Ok(Some(self.text))
    }
}

impl SerializeSeq for List {
    type Ok = Option<String>;
    type Error = Problem;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
        self.add(item)
    }

    fn end(self) -> Result<Option<String>, Problem> {
        self.done()
    }
}

impl SerializeTuple for List {
    type Ok = Option<String>;
    type Error = Problem;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
        self.add(item)
    }

    fn end(self) -> Result<Option<String>, Problem> {
        self.done()
    }
}

impl SerializeTupleStruct for List {
    type Ok = Option<String>;
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
        self.add(item)
    }

    fn end(self) -> Result<Option<String>, Problem> {
        self.done()
    }
}
