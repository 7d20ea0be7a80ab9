//! What discovery says of one resource, in its two forms.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::subresource::Subresource;
use crate::object::{Object, object};
use crate::resources::{Kind, Registry, View};

/// Custom resources list theirs in this order.
const CUSTOM_VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// A resource of a group version.
#[derive(Debug)]
pub(super) struct Entry {
    plural: String,
    singular: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<&'static str>,
    short_names: Vec<String>,
    categories: Vec<String>,
    /// Tells apart what is stored in different versions.
    storage_hash: Option<String>,
    /// The group and version that the aggregated form names: those of a custom resource, none for a
    /// kind of the server's own.
    named: (String, String),
    subresources: Vec<Subresource>,
}

impl Entry {
    /// All resources of a group version, by name.
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
        let verbs = if custom { CUSTOM_VERBS } else { VERBS };
        let allowed = |verb: &&str| match *verb {
            "get" | "list" => true,
            "deletecollection" => !kind.is("", "namespaces") && !kind.is_read_only(),
            _ => !kind.is_read_only(),
        };
        Self {
            plural: kind.plural.clone(),
            singular: kind.singular.clone(),
            kind: kind.kind.clone(),
            namespaced: kind.namespaced,
            verbs: verbs.iter().copied().filter(allowed).collect(),
            short_names: kind.short_names.clone(),
            categories: kind.categories.clone(),
            // What is only read is not stored.
            storage_hash: (!kind.is_read_only()).then(|| storage_hash(kind)),
            named: if custom {
                (kind.group.clone(), kind.version.clone())
            } else {
                Default::default()
            },
            subresources: Subresource::of(kind),
        }
    }

    /// A review is answered and not stored.
    fn of_review(kind: &Kind) -> Self {
        Self {
            verbs: vec!["create"],
            storage_hash: None,
            ..Self::of_kind(kind)
        }
    }

    /// The resource and its subresources as a list of resources has them.
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
            let mut found = object(json!({
                "name": format!("{}/{}", self.plural, part.name), "singularName": "",
                "namespaced": self.namespaced,
                "kind": part.kind.unwrap_or(&self.kind), "verbs": part.verbs,
            }));
            if let Some((group, version)) = part.of {
                found.insert("group".to_owned(), Value::from(group));
                found.insert("version".to_owned(), Value::from(version));
            }
            Value::Object(found)
        });
        std::iter::once(Value::Object(main)).chain(parts).collect()
    }

    /// The resource as the list of everything has it.
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
                let (group, version) = part.of.unwrap_or((group, version));
                let kind = part.kind.unwrap_or(&self.kind);
                json!({
                    "subresource": part.name,
                    "responseKind": {"group": group, "version": version, "kind": kind},
                    "verbs": part.verbs,
                })
            })
            .collect();
        if !parts.is_empty() {
            resource.insert("subresources".to_owned(), Value::from(parts));
        }
        Value::Object(resource)
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

/// The hash of the group, version and kind that a resource is stored as.
fn storage_hash(kind: &Kind) -> String {
    let version = match &kind.custom {
        Some(custom) => custom.storage_version.as_str(),
        None if kind.view == View::AutoscalerV1 => "v2",
        None => kind.version.as_str(),
    };
    let stored = format!("{}/{version}/{}", kind.storage.group, kind.kind);
    let hash = digest(&SHA256, stored.as_bytes());
    STANDARD.encode(hash.as_ref().get(..8).unwrap_or_default())
}
