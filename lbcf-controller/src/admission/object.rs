//! Objects under admission: JSON, of which only the needed parts are decoded.
//!
//! Metadata is decoded apart from the spec, so that an object with an invalid spec can still be deleted
//! and its finalizers removed.

use super::field_error::FieldError;
use super::mutate;
use super::review::Request;
use super::rules::Labels;
use super::table::Kind;
use crate::api::ObjectKey;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;

/// The part of the metadata that rules use.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    name: Option<String>,
    generate_name: Option<String>,
    namespace: Option<String>,
    labels: Option<Labels>,
    annotations: Option<Labels>,
    deletion_timestamp: Option<String>,
    finalizers: Option<Vec<String>>,
}

impl Metadata {
    pub(super) fn read(object: &Value) -> Result<Self, FieldError> {
        read(object.get("metadata").unwrap_or(&Value::Null), "metadata")
    }

    /// The namespace and the name, or `generateName` where the name is still to be generated.
    pub(super) fn key(&self, request: &Request) -> ObjectKey {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        ObjectKey::new(
            given(&self.namespace)
                .or_else(|| request.namespace.clone())
                .unwrap_or_default(),
            given(&self.name)
                .or_else(|| given(&self.generate_name))
                .unwrap_or_default(),
        )
    }

    pub(super) const fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    pub(super) fn has_finalizer(&self, finalizer: &str) -> bool {
        let mut finalizers = self.finalizers.iter().flatten();
        finalizers.any(|other| other == finalizer)
    }

    pub(super) fn labels(self) -> Labels {
        self.labels.unwrap_or_default()
    }

    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

/// A spec as JSON, with the fields of older manifests rewritten, and decoded.
#[derive(Debug)]
pub(super) struct Spec<S> {
    pub(super) raw: Value,
    pub(super) read: S,
}

impl<S: DeserializeOwned> Spec<S> {
    pub(super) fn read(kind: Kind, object: &Value) -> Result<Self, FieldError> {
        let mut raw = object.get("spec").cloned().unwrap_or(Value::Null);
        mutate::normalise(kind, &mut raw);
        let read = read(&raw, "spec")?;
        Ok(Self { raw, read })
    }
}

/// Decodes a part of an object; an error names the path.
fn read<T: DeserializeOwned>(value: &Value, at: &str) -> Result<T, FieldError> {
    if !value.is_object() {
        return Err(FieldError::invalid(at, value, "must be an object"));
    }
    serde_path_to_error::deserialize(value.into_deserializer()).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." {
            at.to_owned()
        } else {
            format!("{at}.{path}")
        };
        FieldError::new(field, error.into_inner().to_string())
    })
}
