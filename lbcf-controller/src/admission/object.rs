//! Objects under admission: JSON, of which only the needed parts are decoded.
//!
//! Metadata is decoded apart from the spec, so that an object with an invalid spec can still be deleted
//! and its finalizers removed.

use super::denial::{Denial, FieldError};
use super::mutate;
use super::review::Request;
use super::table::Kind;
use crate::api::ObjectKey;
use lbcf_driver_sdk::webhook;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) type Labels = BTreeMap<String, String>;

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

/// An object to be stored, and the one that it replaces.
#[derive(Debug)]
pub(super) struct ObjectChange<S> {
    pub(super) key: ObjectKey,
    pub(super) metadata: Metadata,
    pub(super) new: Spec<S>,
    pub(super) old: Option<Spec<S>>,
    /// The replaced object with its status.
    pub(super) stored: Option<Value>,
}

impl<S: DeserializeOwned> ObjectChange<S> {
    pub(super) fn read(
        kind: Kind,
        request: &Request,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<Self, Denial> {
        let metadata = Metadata::read(object)?;
        Ok(Self {
            key: metadata.key(request),
            metadata,
            new: Spec::read(kind, object)?,
            // A stored object that cannot be decoded can be replaced.
            old: old.and_then(|old| Spec::read(kind, old).ok()),
            stored: old.cloned(),
        })
    }
}

impl<S> ObjectChange<S> {
    pub(super) const fn is_new(&self) -> bool {
        self.stored.is_none()
    }

    /// The operation that is sent to drivers.
    pub(super) const fn operation(&self) -> webhook::Operation {
        if self.is_new() {
            webhook::Operation::Create
        } else {
            webhook::Operation::Update
        }
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
