//! What the server knows about one kind in one version.

use std::sync::Arc;

use serde_json::Value;

use super::scale::Scale;
use super::{TypeSchema, Typed};
use crate::object::Object;
use crate::schema::Schema;
use crate::store::{Resource, Stored};

/// A kind in one served version.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Whether there is a `/status` subresource, so that main writes leave the status alone.
    pub(crate) has_status: bool,
    /// Whether the generation counts changes of what is wanted.
    pub(crate) has_generation: bool,
    /// Whether deleting answers with the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// Whether an update may leave out the resourceVersion.
    pub(crate) unconditional_update: bool,
    /// How the stored form becomes this version's form.
    pub(crate) view: View,
    /// Where the objects are; shared with other versions of the same resource.
    pub(crate) storage: Resource,
    /// How a built-in kind's type reads an object; `None` for a custom kind.
    pub(crate) typed: Option<Typed>,
    /// How documents describe that type; `None` for a custom kind.
    pub(crate) schema: Option<TypeSchema>,
    /// What a definition said; `None` for a built-in kind.
    pub(crate) custom: Option<Custom>,
}

/// How a version shows what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// As it is.
    Plain,
    /// Events are stored as core/v1 and shown as events.k8s.io/v1.
    EventsV1,
    /// Autoscalers are stored as autoscaling/v2 and shown as autoscaling/v1.
    AutoscalerV1,
}

/// What a CustomResourceDefinition says of one version.
#[derive(Clone, Debug)]
pub(crate) struct Custom {
    /// As it is written.
    pub(crate) schema: Option<Value>,
    /// In the form that objects are checked against.
    pub(crate) prepared: Option<Arc<Schema>>,
    pub(crate) columns: Vec<PrinterColumn>,
    /// The version that objects are stored in.
    pub(crate) storage_version: String,
    /// Where the scale subresource finds its numbers, if there is one.
    pub(crate) scale: Option<Scale>,
    /// The fields besides name and namespace that objects can be selected by (`spec.colour`).
    pub(crate) selectable: Vec<String>,
}

/// A column that kubectl shows for a custom resource.
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    /// As written in the definition (`.spec.replicas`).
    pub(crate) path: String,
}

impl Kind {
    /// `group/version`, or the bare version for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, as messages name a resource.
    pub(crate) fn qualified_resource(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// `Kind.group`, as messages name a kind.
    pub(crate) fn qualified_kind(&self) -> String {
        if self.group.is_empty() {
            self.kind.clone()
        } else {
            format!("{}.{}", self.kind, self.group)
        }
    }

    /// The type that holds an object, or a list of them, inside Kubernetes' own server: some
    /// messages name it.
    pub(crate) fn internal_type(&self, list: bool) -> String {
        if self.is_custom() {
            let suffix = if list { "List" } else { "" };
            return format!("*unstructured.Unstructured{suffix}");
        }
        let package = match self.storage.group.split('.').next() {
            None | Some("") => "core",
            Some(first) => first,
        };
        let kind = if list { &self.list_kind } else { &self.kind };
        format!("*{package}.{kind}")
    }

    /// Whether it comes from a definition.
    pub(crate) fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    /// Whether it is answered and not kept.
    pub(crate) fn is_review(&self) -> bool {
        !self.is_custom() && (self.kind.ends_with("Review") || self.is("", "bindings"))
    }

    /// Whether nobody can write it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is("", "componentstatuses")
    }

    /// Whether this is the built-in kind `plural` of `group`.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }

    /// What is written in front of a stored body to make it a whole object.
    pub(crate) fn type_prefix(&self) -> String {
        let (kind, version) = (
            Value::from(self.kind.as_str()),
            Value::from(self.api_version()),
        );
        format!("{{\"apiVersion\":{version},\"kind\":{kind},")
    }

    /// The object in this version, with `apiVersion` and `kind`.
    pub(crate) fn present(&self, stored: &Stored) -> Object {
        self.present_object(stored.object.clone())
    }

    /// The same for an object that is not stored.
    pub(crate) fn present_object(&self, object: Object) -> Object {
        let mut object = match self.view {
            View::Plain => object,
            View::EventsV1 => super::event_to_v1(object),
            View::AutoscalerV1 => super::autoscaler_to_v1(object),
        };
        object.insert("apiVersion".to_owned(), Value::from(self.api_version()));
        object.insert("kind".to_owned(), Value::from(self.kind.as_str()));
        object
    }

    /// The form to store of an object in this version.
    pub(crate) fn to_storage(&self, mut object: Object) -> Object {
        object.remove("apiVersion");
        object.remove("kind");
        match self.view {
            View::Plain => object,
            View::EventsV1 => super::event_from_v1(object),
            View::AutoscalerV1 => super::autoscaler_from_v1(object),
        }
    }
}
