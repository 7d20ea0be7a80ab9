//! The objects of a cluster that a user may see, as they were at one time.

mod read;

use crate::object::{KINDS, Kind, KindInfo, ObjectRef};
use jiff::{SignedDuration, Timestamp};
use kube::api::ObjectMeta;
use lbcf_controller::ObjectKey;
use lbcf_controller::api::{Condition, Conditions};
pub use read::{ReadError, Scope};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Labels of an object, or of a selector.
pub(crate) type Labels = BTreeMap<String, String>;

static NULL: Value = Value::Null;
static NO_LABELS: Labels = Labels::new();

/// An object as the API server gave it, whether or not its fields are valid.
#[derive(Debug, Clone, Default)]
pub struct Object {
    pub(crate) metadata: ObjectMeta,
    /// The other fields.
    pub(crate) data: Value,
}

/// Objects that the user may not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// The objects, such as `pods in namespace web`.
    pub what: String,
    /// The API server's answer.
    pub why: String,
}

/// The objects of a cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// When they were read.
    pub(crate) now: Timestamp,
    objects: BTreeMap<Kind, BTreeMap<ObjectKey, Object>>,
    /// Objects that are missing from the others.
    pub unseen: Vec<Unseen>,
    /// Kinds and namespaces that were read in whole; an empty namespace stands for all.
    seen: Vec<(Kind, String)>,
}

impl Object {
    /// The value at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.data.pointer(pointer).unwrap_or(&NULL)
    }

    /// The text at a JSON pointer; empty if there is none.
    #[must_use]
    pub fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    /// The list at a JSON pointer; empty if there is none.
    #[must_use]
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.at(pointer).as_array().map_or(&[], Vec::as_slice)
    }

    /// The texts of a list.
    #[must_use]
    pub fn texts(&self, pointer: &str) -> Vec<&str> {
        self.list(pointer)
            .iter()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(crate) fn map(&self, pointer: &str) -> Labels {
        serde_json::from_value(self.at(pointer).clone()).unwrap_or_default()
    }

    pub(crate) fn labels(&self) -> &Labels {
        self.metadata.labels.as_ref().unwrap_or(&NO_LABELS)
    }

    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels().get(name).map_or("", String::as_str)
    }

    pub(crate) fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    pub(crate) fn conditions(&self) -> Vec<Condition> {
        conditions(self.at("/status/conditions"))
    }

    pub(crate) fn condition(&self, type_: &str) -> Option<Condition> {
        self.conditions().find(type_).cloned()
    }

    pub(crate) fn has_condition(&self, type_: &str) -> bool {
        self.conditions().is_true(type_)
    }
}

/// The conditions in a list, without those that are malformed.
pub(crate) fn conditions(list: &Value) -> Vec<Condition> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|it| serde_json::from_value(it.clone()).ok())
        .collect()
}

impl Cluster {
    pub(crate) fn get(&self, object: &ObjectRef) -> Option<&Object> {
        self.objects.get(&object.kind)?.get(&object.key)
    }

    /// The objects as the API server gave them, of the kinds in the order in which they refer to each other.
    pub fn objects(&self) -> impl Iterator<Item = (Kind, Map<String, Value>)> {
        let of_kind = |info: &'static KindInfo| self.all(info.kind).map(move |it| (info, it.1));
        KINDS.iter().flat_map(of_kind).map(|(info, object)| {
            let mut fields = object.data.as_object().cloned().unwrap_or_default();
            let version = match info.group {
                "" => info.version.to_owned(),
                group => format!("{group}/{}", info.version),
            };
            fields.insert("apiVersion".to_owned(), version.into());
            fields.insert("kind".to_owned(), info.name.into());
            let metadata = serde_json::to_value(&object.metadata).unwrap_or_default();
            fields.insert("metadata".to_owned(), metadata);
            (info.kind, fields)
        })
    }

    /// All objects of a kind.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = (ObjectRef, &Object)> {
        let objects = self.objects.get(&kind).into_iter().flatten();
        objects.map(move |(key, object)| (ObjectRef::new(kind, key.clone()), object))
    }

    /// The objects of a kind in the namespace of an object.
    pub(crate) fn beside<'a>(
        &'a self,
        object: &'a ObjectRef,
        kind: Kind,
    ) -> impl Iterator<Item = (ObjectRef, &'a Object)> {
        let all = self.all(kind);
        all.filter(|(it, _)| it.key.namespace == object.key.namespace)
    }

    /// False if an object that is missing here may exist.
    #[must_use]
    pub fn sees(&self, object: &ObjectRef) -> bool {
        let mut seen = self.seen.iter();
        seen.any(|(kind, of)| {
            *kind == object.kind && (of.is_empty() || **of == *object.key.namespace)
        })
    }

    pub(crate) fn age(&self, since: Timestamp) -> SignedDuration {
        self.now.duration_since(since)
    }

    /// A cluster of which all is seen.
    #[cfg(test)]
    pub(crate) fn of(objects: impl IntoIterator<Item = (ObjectRef, Value)>) -> Self {
        let mut cluster = Self::default();
        let kinds = crate::object::KINDS.iter();
        cluster.seen = kinds.map(|it| (it.kind, String::new())).collect();
        for (object, mut data) in objects {
            let metadata = serde_json::from_value(data["metadata"].take()).unwrap_or_default();
            let of_kind = cluster.objects.entry(object.kind).or_default();
            of_kind.insert(object.key, Object { metadata, data });
        }
        cluster
    }
}
