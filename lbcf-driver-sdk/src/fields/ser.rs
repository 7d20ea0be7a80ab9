//! Serializes a type to a map of strings.

mod text;

use super::problem::{Problem, What};
use crate::webhook::StringMap;
use serde::ser::{Error as _, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};
use text::Text;

pub(super) fn write<T: Serialize>(fields: &T) -> Result<StringMap, Problem> {
    fields.serialize(Map)
}

/// The text of a value; `None` for `None` and the like.
fn text<T: Serialize + ?Sized>(value: &T) -> Result<Option<String>, Problem> {
    match value.serialize(Text::Value) {
        Err(problem) if *problem.what() == What::NeedsJson => serde_json::to_string(value)
            .map(Some)
            .map_err(Problem::custom),
        written => written,
    }
}

/// Accepts only what a map of strings can represent.
struct Map;

impl Map {
    fn refuse<T>(what: &str) -> Result<T, Problem> {
        Err(Problem::value(format!(
            "a map of strings cannot represent {what}: use a struct or a map"
        )))
    }
}

macro_rules! refuse {
    ($($method:ident($($type:ty),*) -> $ok:ty, $what:literal;)*) => {$(
        fn $method(self, $(_: $type),*) -> Result<$ok, Problem> {
            Self::refuse($what)
        }
    )*};
}

type No = Impossible<StringMap, Problem>;

impl Serializer for Map {
    type Ok = StringMap;
    type Error = Problem;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = No;

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, Problem> {
        Ok(Entries::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, Problem> {
        Ok(Entries::default())
    }

    fn serialize_none(self) -> Result<StringMap, Problem> {
        Ok(StringMap::new())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<StringMap, Problem> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<StringMap, Problem> {
        Ok(StringMap::new())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<StringMap, Problem> {
        Ok(StringMap::new())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<StringMap, Problem> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<StringMap, Problem> {
        let mut entries = Entries::default();
        entries.add(variant.to_owned(), value)?;
        Ok(entries.map)
    }

    refuse! {
        serialize_bool(bool) -> StringMap, "a bool";
        serialize_i8(i8) -> StringMap, "a number";
        serialize_i16(i16) -> StringMap, "a number";
        serialize_i32(i32) -> StringMap, "a number";
        serialize_i64(i64) -> StringMap, "a number";
        serialize_i128(i128) -> StringMap, "a number";
        serialize_u8(u8) -> StringMap, "a number";
        serialize_u16(u16) -> StringMap, "a number";
        serialize_u32(u32) -> StringMap, "a number";
        serialize_u64(u64) -> StringMap, "a number";
        serialize_u128(u128) -> StringMap, "a number";
        serialize_f32(f32) -> StringMap, "a number";
        serialize_f64(f64) -> StringMap, "a number";
        serialize_char(char) -> StringMap, "a character";
        serialize_str(&str) -> StringMap, "a text";
        serialize_bytes(&[u8]) -> StringMap, "bytes";
        serialize_unit_variant(&'static str, u32, &'static str) -> StringMap, "a word";
        serialize_seq(Option<usize>) -> No, "a list";
        serialize_tuple(usize) -> No, "a tuple";
        serialize_tuple_struct(&'static str, usize) -> No, "a tuple";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> No, "a tuple";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> No, "such a variant";
    }
}

#[derive(Default)]
struct Entries {
    map: StringMap,
    /// The key of the next value.
    key: String,
}

impl Entries {
    fn add<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), Problem> {
        let written = match text(value) {
            Ok(None) => return Ok(()),
            Ok(Some(text)) if self.map.contains_key(&key) => {
                let twice = "is given twice: by a field and by a flattened map";
                Err(Problem::value(twice).at(&key, &text))
            }
            Ok(Some(text)) => Ok(text),
            Err(problem) => Err(problem.in_field(&key)),
        };
        self.map.insert(key, written?);
        Ok(())
    }
}

impl SerializeStruct for Entries {
    type Ok = StringMap;
    type Error = Problem;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Problem> {
        self.add(key.to_owned(), value)
    }

    fn end(self) -> Result<StringMap, Problem> {
        Ok(self.map)
    }
}

impl SerializeMap for Entries {
    type Ok = StringMap;
    type Error = Problem;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Problem> {
        self.key = text(key)?.ok_or_else(|| Problem::value("a key has no text"))?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Problem> {
        let key = std::mem::take(&mut self.key);
        self.add(key, value)
    }

    fn end(self) -> Result<StringMap, Problem> {
        Ok(self.map)
    }
}
