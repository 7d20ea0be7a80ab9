//! Serializes a list to a text: `80,443`, or JSON where that could not be read back.

use super::text::Text;
use super::{Problem, What};
use crate::fields::de::is_json_list;
use serde::ser::{Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct};

pub(super) type NoText = Impossible<Option<String>, Problem>;

#[derive(Default)]
pub(super) struct List {
    text: String,
    is_started: bool,
}

impl List {
    fn add<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
        let item = item.serialize(Text::Item)?.unwrap_or_default();
        if item.is_empty() || item.contains(',') || item.trim() != item {
            return Err(Problem::new(What::NeedsJson));
        }
        if self.is_started {
            self.text.push(',');
        }
        self.is_started = true;
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

macro_rules! serialize_items {
    ($($trait:ident: $method:ident;)*) => {$(
        impl $trait for List {
            type Ok = Option<String>;
            type Error = Problem;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Problem> {
                self.add(item)
            }

            fn end(self) -> Result<Option<String>, Problem> {
                self.done()
            }
        }
    )*};
}

serialize_items! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
}
