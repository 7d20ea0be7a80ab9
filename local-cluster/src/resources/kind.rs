//! A kind in one served version.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub(crate) use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition as PrinterColumn;
use schemars::SchemaGenerator;
use serde_json::Value;

use super::conversion::Conversion;
use super::scale::Scale;
use crate::names::qualified;
use crate::object::Object;
use crate::schema::Schema;
use crate::store::{Resource, Stored};

/// Decodes an object as its generated type.
pub(crate) type TypeCheck = fn(Value) -> Result<(), serde_json::Error>;

/// The OpenAPI schema of a generated type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSchema {
    pub(crate) name: fn() -> Cow<'static, str>,
    /// Adds the schema of the type and of all types that it refers to.
    pub(crate) add: fn(&mut SchemaGenerator),
}

#[derive(Clone, Debug, Default)]
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
    /// There is a status subresource, so that other writes leave the status alone.
    pub(crate) has_status: bool,
    /// `metadata.generation` counts changes of the desired state.
    pub(crate) has_generation: bool,
    /// A deletion responds with the object instead of a `Status`.
    pub(crate) returns_deleted: bool,
    /// An update may omit the resourceVersion.
    pub(crate) unconditional_update: bool,
    pub(crate) conversion: Conversion,
    /// The stored resource, shared by all versions.
    pub(crate) storage: Resource,
    /// `None` for custom kinds.
    pub(crate) check_types: Option<TypeCheck>,
    /// `None` for custom kinds.
    pub(crate) schema: Option<TypeSchema>,
    /// `None` for built-in kinds.
    pub(crate) custom: Option<Custom>,
}

/// One version of a CustomResourceDefinition.
#[derive(Clone, Debug)]
pub(crate) struct Custom {
    /// The schema as the definition has it.
    pub(crate) schema: Option<Value>,
    /// The compiled schema, once an object was validated: most definitions are read several times
    /// before.
    pub(crate) compiled: Arc<OnceLock<Schema>>,
    pub(crate) columns: Vec<PrinterColumn>,
    pub(crate) storage_version: String,
    /// The schema of the storage version, if that is another version.
    pub(crate) stored: Option<Arc<(Value, OnceLock<Schema>)>>,
    pub(crate) scale: Option<Scale>,
    /// Selectable fields besides name and namespace, such as `spec.colour`.
    pub(crate) selectable: Vec<String>,
    pub(crate) deprecation: Option<String>,
}

impl Custom {
    pub(crate) fn compiled(&self) -> Option<&Schema> {
        let schema = self.schema.as_ref()?;
        Some(self.compiled.get_or_init(|| Schema::read(schema)))
    }

    /// Prunes and completes a stored object by the schema of the storage version.
    pub(crate) fn coerce(&self, object: &mut Object) {
        let schema = match self.stored.as_deref() {
            Some((schema, compiled)) => Some(compiled.get_or_init(|| Schema::read(schema))),
            None => self.compiled(),
        };
        if let Some(schema) = schema {
            let mut value = Value::Object(std::mem::take(object));
            schema.prune(&mut value);
            schema.fill(&mut value);
            *object = crate::object::object(value);
        }
    }
}

impl Kind {
    /// `group/version`, or `version` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, as messages name a resource.
    pub(crate) fn qualified_resource(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// The Go type of an object or a list in Kubernetes' own server, which some messages name.
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

    pub(crate) fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    /// The kind for messages about another version, such as `apps/v2`.
    pub(crate) fn in_version(&self, version: &str) -> Self {
        let version = version.rsplit('/').next().unwrap_or_default().to_owned();
        Self {
            version,
            ..self.clone()
        }
    }

    pub(crate) fn scale(&self) -> Option<Scale> {
        if let Some(custom) = &self.custom {
            return custom.scale.clone();
        }
        let scales = ["deployments", "replicasets", "statefulsets"].map(|set| ("apps", set));
        let mut scales = scales.into_iter().chain([("", "replicationcontrollers")]);
        scales
            .any(|(group, set)| self.is(group, set))
            .then(|| Scale {
                spec_path: ".spec.replicas".to_owned(),
                status_path: ".status.replicas".to_owned(),
                selector_path: None,
            })
    }

    /// Objects are created and never stored.
    pub(crate) fn is_review(&self) -> bool {
        !self.is_custom() && (self.kind.ends_with("Review") || self.is("", "bindings"))
    }

    /// An update of an object that does not exist, or of its status, creates it.
    pub(crate) fn is_created_by_update(&self) -> bool {
        let plurals = ["endpoints", "events", "leases", "services"];
        !self.is_custom() && plurals.contains(&self.plural.as_str())
    }

    /// The warning to every client of this version.
    pub(crate) fn deprecation(&self) -> Option<String> {
        let since = match &self.custom {
            Some(custom) => return custom.deprecation.clone(),
            None if self.is("", "endpoints") => "v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            None if self.is("", "componentstatuses") => "v1.19+",
            None => return None,
        };
        Some(format!("v1 {} is deprecated in {since}", self.kind))
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.is("", "componentstatuses")
    }

    /// Compares with the built-in kind `plural` of `group`.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }

    /// The start of an encoded object: a stored body follows without its opening brace.
    pub(crate) fn type_prefix(&self) -> String {
        let (kind, version) = (
            Value::from(self.kind.as_str()),
            Value::from(self.api_version()),
        );
        format!("{{\"apiVersion\":{version},\"kind\":{kind},")
    }

    /// Converts a stored object to this version and adds `apiVersion` and `kind`.
    pub(crate) fn present(&self, stored: &Stored) -> Object {
        self.present_object(stored.object.clone())
    }

    /// As [`Self::present`], for an object that is not stored.
    pub(crate) fn present_object(&self, object: Object) -> Object {
        let mut object = self.conversion.present(object);
        object.insert("apiVersion".to_owned(), Value::from(self.api_version()));
        object.insert("kind".to_owned(), Value::from(self.kind.as_str()));
        object
    }

    /// Converts an object of this version to its stored form.
    pub(crate) fn to_storage(&self, mut object: Object) -> Object {
        if let Some(custom) = self.custom.as_ref().filter(|c| c.stored.is_some()) {
            custom.coerce(&mut object);
        }
        object.remove("apiVersion");
        object.remove("kind");
        self.conversion.store(object)
    }
}
