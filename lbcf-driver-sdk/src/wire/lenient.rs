//! Serde helpers for fields on which existing controllers, drivers and documents disagree.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

type StringMap = BTreeMap<String, String>;

/// The newtype name with which an object of Kubernetes is requested from a deserializer. The
/// [streaming](super::streaming) one recognises it and visits the object's text. Others visit a newtype, from
/// which a JSON value is read first.
pub(super) const KUBERNETES_OBJECT: &str = "lbcf_driver_sdk::wire::KubernetesObject";

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
    map: &impl Borrow<StringMap>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let map = map.borrow();
    if map.is_empty() {
        serializer.serialize_none()
    } else {
        map.serialize(serializer)
    }
}

/// Reads `null` as an empty map.
pub(crate) fn null_as_empty_map<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: From<StringMap>,
{
    null_as_default::<D, StringMap>(deserializer).map(T::from)
}

/// True if an optional map is not written.
pub(crate) fn is_empty_map(map: &impl Borrow<StringMap>) -> bool {
    map.borrow().is_empty()
}

/// The JSON of an object of Kubernetes. The original documents show pods and services as JSON in a string;
/// controllers send objects.
pub(crate) fn json_of_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    struct Text;

    impl<'de> Visitor<'de> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object or a string that holds one")
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<String, D::Error> {
            let value = match Value::deserialize(value)? {
                Value::String(json) => serde_json::from_str(&json).map_err(|error| {
                    D::Error::custom(format_args!("the string holds no JSON object: {error}"))
                })?,
                value => value,
            };
            match value {
                Value::Object(_) => Ok(value.to_string()),
                other => Err(D::Error::custom(format_args!(
                    "{}: not an object",
                    shortened(&other)
                ))),
            }
        }

        fn visit_str<E: Error>(self, json: &str) -> Result<String, E> {
            Ok(json.to_owned())
        }
    }

    deserializer.deserialize_newtype_struct(KUBERNETES_OBJECT, Text)
}

fn shortened(value: &Value) -> String {
    const ENOUGH: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A whole number, which may be written as `80.0`: that is an integer, too, for JSON Schema. `null` is 0.
pub(crate) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(0);
    };
    let whole = number.as_f64().filter(|it| it.fract() == 0.0);
    let whole = whole.and_then(|it| it.to_string().parse().ok());
    whole.ok_or_else(|| D::Error::custom(format_args!("{number}: not a whole number of 32 bits")))
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
