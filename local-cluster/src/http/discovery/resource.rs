//! A resource in discovery, in the plain and the aggregated form.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::http::subresource::Subresource;
use crate::object::{Object, object};
use crate::resources::{Conversion, Kind, Registry};

/// In the order that the API server uses for custom resources; those of built-in kinds are sorted.
const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

#[derive(Debug)]
pub(super) struct ApiResource {
    plural: String,
    singular: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<&'static str>,
    short_names: Vec<String>,
    categories: Vec<String>,
    /// Changes with the storage version; none for resources that are not stored.
    storage_hash: Option<String>,
    /// The group and version in the aggregated form; empty for built-in kinds.
    named: (String, String),
    subresources: Vec<Subresource>,
}

impl ApiResource {
    /// The resources of a group version, sorted by name.
    pub(super) fn all(registry: &Registry, group: &str, version: &str) -> Vec<Self> {
        let here = |k: &&Arc<Kind>| k.group == group && k.version == version;
        let (kinds, reviews) = (registry.all(), registry.reviews());
        let mut entries: Vec<Self> = kinds
            .iter()
            .filter(here)
            .map(|kind| Self::of_kind(kind))
            .chain(
                reviews
                    .iter()
                    .filter(here)
                    .map(|kind| Self::of_review(kind)),
            )
            .collect();
        entries.sort_by(|a, b| a.plural.cmp(&b.plural));
        entries
    }

    fn of_kind(kind: &Kind) -> Self {
        let custom = kind.is_custom();
        let mut verbs = VERBS.to_vec();
        verbs.retain(|verb| match *verb {
            "get" | "list" => true,
            "deletecollection" => !kind.is("", "namespaces") && !kind.is_read_only(),
            _ => !kind.is_read_only(),
        });
        if !custom {
            verbs.sort_unstable();
        }
        Self {
            plural: kind.plural.clone(),
            singular: kind.singular.clone(),
            kind: kind.kind.clone(),
            namespaced: kind.namespaced,
            verbs,
            short_names: kind.short_names.clone(),
            categories: kind.categories.clone(),
            storage_hash: (!kind.is_read_only()).then(|| storage_hash(kind)),
            named: if custom {
                (kind.group.clone(), kind.version.clone())
            } else {
                Default::default()
            },
            subresources: Subresource::all(kind).collect(),
        }
    }

    /// Reviews are created and not stored.
    fn of_review(kind: &Kind) -> Self {
        Self {
            verbs: vec!["create"],
            storage_hash: None,
            ..Self::of_kind(kind)
        }
    }

    /// The entries of an `APIResourceList`: the resource, then its subresources.
    pub(super) fn plain(&self) -> Vec<Value> {
        let mut main = object(json!({
            "name": self.plural, "singularName": self.singular, "namespaced": self.namespaced,
            "kind": self.kind, "verbs": self.verbs,
        }));
        self.add_names(&mut main);
        if let Some(hash) = &self.storage_hash {
            main.insert("storageVersionHash".to_owned(), Value::from(hash.as_str()));
        }
        let parts = self.subresources.iter().map(|part| {
            let (kind, group_version) = self.response_kind(*part);
            let mut found = object(json!({
                "name": format!("{}/{}", self.plural, part.name()), "singularName": "",
                "namespaced": self.namespaced, "kind": kind, "verbs": part.verbs(),
            }));
            if let Some((group, version)) = group_version {
                found.insert("group".to_owned(), Value::from(group));
                found.insert("version".to_owned(), Value::from(version));
            }
            Value::Object(found)
        });
        std::iter::once(Value::Object(main)).chain(parts).collect()
    }

    /// The entry in aggregated discovery.
    pub(super) fn aggregated(&self) -> Value {
        let (group, version) = (self.named.0.as_str(), self.named.1.as_str());
        let mut resource = object(json!({
            "resource": self.plural,
            "responseKind": {"group": group, "version": version, "kind": self.kind},
            "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": self.singular, "verbs": self.verbs,
        }));
        self.add_names(&mut resource);
        let parts: Vec<Value> = self
            .subresources
            .iter()
            .map(|part| {
                let (kind, group_version) = self.response_kind(*part);
                let (group, version) = group_version.unwrap_or((group, version));
                json!({
                    "subresource": part.name(),
                    "responseKind": {"group": group, "version": version, "kind": kind},
                    "verbs": part.verbs(),
                })
            })
            .collect();
        if !parts.is_empty() {
            resource.insert("subresources".to_owned(), Value::from(parts));
        }
        Value::Object(resource)
    }

    fn response_kind(&self, part: Subresource) -> (String, Option<(&str, &str)>) {
        part.response_kind(&self.kind)
            .unwrap_or_else(|| (self.kind.clone(), None))
    }

    fn add_names(&self, resource: &mut Object) {
        for (key, list) in [
            ("shortNames", &self.short_names),
            ("categories", &self.categories),
        ] {
            if !list.is_empty() {
                resource.insert(key.to_owned(), Value::from(list.clone()));
            }
        }
    }
}

/// The hash of the group, version and kind under which objects are stored.
fn storage_hash(kind: &Kind) -> String {
    let version = match &kind.custom {
        Some(custom) => custom.storage_version.as_str(),
        None if kind.conversion == Conversion::AutoscalerV1 => "v2",
        None => kind.version.as_str(),
    };
    let stored = format!("{}/{version}/{}", kind.storage.group, kind.kind);
    let hash = digest(&SHA256, stored.as_bytes());
    STANDARD.encode(hash.as_ref().get(..8).unwrap_or_default())
}
