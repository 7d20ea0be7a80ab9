//! Objects as admission gets them: JSON, of which only what is asked for is read.
//!
//! Metadata is read apart from the spec, so that an object whose spec cannot be understood can
//! still be deleted, and lose its finalizers.

use super::refusal::Refusal;
use super::rules::Labels;
use super::table::Kind;
use super::{mutate, review::Request};
use crate::key::ObjectKey;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;

/// What rules ask of metadata.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    name: Option<String>,
    generate_name: Option<String>,
    namespace: Option<String>,
    labels: Option<Labels>,
    annotations: Option<Labels>,
    deletion_timestamp: Option<String>,
}

impl Metadata {
    pub(super) fn read(object: &Value) -> Result<Self, Refusal> {
        read(object.get("metadata").unwrap_or(&Value::Null), "metadata")
    }

    /// Its namespace and name; for one that is still to get a name, how that begins.
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

    pub(super) fn labels(self) -> Labels {
        self.labels.unwrap_or_default()
    }

    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

/// A spec, as it was written in the present edition's form, and what it says.
#[derive(Debug)]
pub(super) struct Spec<S> {
    pub(super) raw: Value,
    pub(super) read: S,
}

impl<S: DeserializeOwned> Spec<S> {
    pub(super) fn read(kind: Kind, object: &Value) -> Result<Self, Refusal> {
        let mut raw = object.get("spec").cloned().unwrap_or(Value::Null);
        mutate::normalise(kind, &mut raw);
        let read = read(&raw, "spec")?;
        Ok(Self { raw, read })
    }
}

impl<S> Spec<S> {
    pub(super) const fn parts(&self) -> (&S, &Value) {
        (&self.read, &self.raw)
    }
}

/// Reads a part of an object; what cannot be read is named by its path.
fn read<T: DeserializeOwned>(value: &Value, at: &str) -> Result<T, Refusal> {
    if !value.is_object() {
        return Err(Refusal::value(at, value, "must be there and an object"));
    }
    serde_path_to_error::deserialize(value.into_deserializer()).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." {
            at.to_owned()
        } else {
            format!("{at}.{path}")
        };
        Refusal::field(field, error.into_inner().to_string())
    })
}
