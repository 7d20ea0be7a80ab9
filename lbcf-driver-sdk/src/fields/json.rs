//! A value as JSON text.

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A value that is JSON text in a field, or in a backend's address.
///
/// Structs, maps and lists of them are JSON text in a field anyway. This is for types that inspect what
/// they read (`serde_json::Value`, enums that are internally tagged or untagged), and for addresses of
/// several parts:
///
/// ```
/// use lbcf_driver_sdk::fields::{Json, read_address};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Target {
///     instance: String,
///     port: u16,
/// }
///
/// let address = Json(Target { instance: "ins-1".into(), port: 80 });
/// assert_eq!(address.to_string(), r#"{"instance":"ins-1","port":80}"#);
/// assert_eq!(read_address::<Json<Target>>("backendAddr", &address.to_string())?, address);
/// # Ok::<(), lbcf_driver_sdk::fields::FieldError>(())
/// ```
///
/// An address must have the same text in each call, so it must not contain a `HashMap`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json<T>(
    /// The value that is written as JSON.
    pub T,
);

impl<T: Serialize> fmt::Display for Json<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl<T: DeserializeOwned> FromStr for Json<T> {
    type Err = String;

    /// The error says that the text is not JSON, or not that of the type.
    fn from_str(text: &str) -> Result<Self, String> {
        let read = serde_json::from_str(text).map(Self);
        read.map_err(|error| format!("not the JSON that is expected: {error}"))
    }
}

impl<T: Serialize> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(&self.0).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Json<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: DeserializeOwned> Visitor<'_> for Text<T> {
            type Value = Json<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON text")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Json<T>, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text(PhantomData))
    }
}

#[cfg(feature = "openapi")]
impl<T> schemars::JsonSchema for Json<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "contentMediaType": "application/json"})
    }
}
