//! Serializes one value to a text.

use super::{Problem, What};
use crate::fields::de::is_json_list;
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct, Serializer,
};

#[derive(Clone, Copy)]
pub(super) enum Text {
    /// The value of a field.
    Value,
    /// An item of a list, which cannot be a list.
    Item,
}

impl Text {
    fn list(self) -> Result<List, Problem> {
        match self {
            Self::Value => Ok(List::default()),
            Self::Item => needs_json(),
        }
    }
}

fn needs_json<T>() -> Result<T, Problem> {
    Err(Problem::new(What::NeedsJson))
}

/// Values whose `Display` is the format that is read.
macro_rules! plain {
    ($($method:ident: $type:ty;)*) => {$(
        fn $method(self, value: $type) -> Result<Option<String>, Problem> {
            Ok(Some(value.to_string()))
        }
    )*};
}

macro_rules! fractions {
    ($($method:ident: $float:ty;)*) => {$(
        fn $method(self, value: $float) -> Result<Option<String>, Problem> {
            if !value.is_finite() {
                return Err(Problem::value(format!("{value} cannot be written as a number")));
            }
            // Unlike `Display`, it writes very large and very small numbers with an exponent.
            let text = format!("{value:?}");
            Ok(Some(text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)))
        }
    )*};
}

impl Serializer for Text {
    type Ok = Option<String>;
    type Error = Problem;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = NoText;
    type SerializeMap = NoText;
    type SerializeStruct = NoText;
    type SerializeStructVariant = NoText;

    plain! {
        serialize_bool: bool;
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_i128: i128;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_u128: u128;
        serialize_char: char;
        serialize_str: &str;
    }

    fractions! {
        serialize_f32: f32;
        serialize_f64: f64;
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Option<String>, Problem> {
        match std::str::from_utf8(value) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(Problem::value("holds bytes that are not UTF-8")),
        }
    }

    fn serialize_none(self) -> Result<Option<String>, Problem> {
        Ok(None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Option<String>, Problem> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Option<String>, Problem> {
        Ok(None)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Option<String>, Problem> {
        Ok(None)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Option<String>, Problem> {
        Ok(Some(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Option<String>, Problem> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Option<String>, Problem> {
        needs_json()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Problem> {
        self.list()
    }

    fn serialize_tuple(self, _: usize) -> Result<List, Problem> {
        self.list()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List, Problem> {
        self.list()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<NoText, Problem> {
        needs_json()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<NoText, Problem> {
        needs_json()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<NoText, Problem> {
        needs_json()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<NoText, Problem> {
        needs_json()
    }
}

pub(super) type NoText = Impossible<Option<String>, Problem>;

/// A list: `80,443`, or JSON where that could not be read back.
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
