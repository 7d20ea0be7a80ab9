//! Matches field names in any letter case at every depth, as Go's decoder does.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// Deserializes from a JSON value. Where a struct is read, the keys get the declared spelling.
pub(super) struct AnyCase(pub(super) Value);

impl<'de> IntoDeserializer<'de, Error> for AnyCase {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for AnyCase {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter().map(Self));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(object) => visitor.visit_map(Fields::new(object)),
            scalar => scalar.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(object) => visitor.visit_map(Fields::new(respell(object, fields))),
            // Serde would also read a struct from an array.
            other => Err(serde::de::Error::invalid_type(unexpected(&other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(Self(value)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn unexpected(value: &Value) -> serde::de::Unexpected<'_> {
    use serde::de::Unexpected;
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(_) => Unexpected::Other("number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

type Entries = std::iter::Map<serde_json::map::IntoIter, fn((String, Value)) -> (String, AnyCase)>;

struct Fields<'de>(MapDeserializer<'de, Entries, Error>);

impl Fields<'_> {
    fn new(object: Map<String, Value>) -> Self {
        let wrap: fn((String, Value)) -> (String, AnyCase) = |(key, value)| (key, AnyCase(value));
        Self(MapDeserializer::new(object.into_iter().map(wrap)))
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.0.next_value_seed(seed)
    }
}

/// Gives each key the declared spelling. If an object has two spellings of a field (`oldParameters` of
/// the specification and `OldParameters` of the original controller), the declared one takes
/// precedence unless it is null.
fn respell(object: Map<String, Value>, fields: &[&'static str]) -> Map<String, Value> {
    let mut spelled = Map::with_capacity(object.len());
    let mut others = Vec::new();
    for (key, value) in object {
        if fields.contains(&key.as_str()) {
            spelled.insert(key, value);
        } else if let Some(field) = fields.iter().find(|field| field.eq_ignore_ascii_case(&key)) {
            others.push((*field, value));
        }
    }
    for (field, value) in others {
        let declared = spelled.entry(field).or_insert(Value::Null);
        if declared.is_null() {
            *declared = value;
        }
    }
    spelled
}
