//! Serde helpers for fields on which existing controllers, drivers and documents disagree.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// The newtype name with which Kubernetes' objects are requested from a deserializer. The
/// [streaming](super::streaming) one recognises it and visits the object as a map, or the list as a
/// sequence. Others visit a newtype, from which a JSON value is read first.
pub(super) const KUBERNETES_OBJECTS: &str = "lbcf_driver_sdk::wire::KubernetesObjects";

/// Reads `null` like an absent field, as the default.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The original controller writes an unset map as `null`.
pub(crate) fn empty_map_as_null<S: Serializer>(
    map: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if map.is_empty() {
        serializer.serialize_none()
    } else {
        map.serialize(serializer)
    }
}

/// The original documents show pods and services as JSON in a string; controllers send objects.
pub(crate) fn object_or_json_string<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    deserializer.deserialize_newtype_struct(KUBERNETES_OBJECTS, OneObject(PhantomData))
}

struct OneObject<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for OneObject<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a string that holds one")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<T, D::Error> {
        object_or_string_value(Value::deserialize(value)?).map_err(D::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object))
    }

    fn visit_str<E: Error>(self, json: &str) -> Result<T, E> {
        object_or_string_value(Value::String(json.to_owned())).map_err(E::custom)
    }
}

/// [`object_or_json_string`] for a list; `null` and an absent field are the empty list.
pub(crate) fn objects_or_json_strings<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    deserializer.deserialize_newtype_struct(KUBERNETES_OBJECTS, ListOfObjects(PhantomData))
}

struct ListOfObjects<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for ListOfObjects<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects or of strings that hold one")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Vec<T>, D::Error> {
        Option::<Vec<Value>>::deserialize(value)?
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .map(|(at, value)| {
                object_or_string_value(value)
                    .map_err(|error| D::Error::custom(format_args!("number {at}: {error}")))
            })
            .collect()
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut objects = Vec::new();
        while let Some(object) = items.next_element()? {
            objects.push(object);
        }
        Ok(objects)
    }
}

fn object_or_string_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    let value = match value {
        Value::String(json) => serde_json::from_str(&json)
            .map_err(|error| format!("the string holds no JSON object: {error}"))?,
        value => value,
    };
    if !value.is_object() {
        return Err(format!("{}: not an object", shortened(&value)));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn shortened(value: &Value) -> String {
    const ENOUGH: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whole seconds as a number or a numeric string. `null` and an absent field are 0.
pub(crate) fn whole_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let seconds = match &value {
        Value::Null => Some(0),
        Value::Number(number) => number.as_i64().and_then(|n| i32::try_from(n).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    seconds.ok_or_else(|| {
        D::Error::custom(format!(
            "{}: not whole seconds (a JSON integer from {} to {})",
            shortened(&value),
            i32::MIN,
            i32::MAX
        ))
    })
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's skip_serializing_if passes a reference
pub(crate) fn is_zero(seconds: &i32) -> bool {
    *seconds == 0
}
