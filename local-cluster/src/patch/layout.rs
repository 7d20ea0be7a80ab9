//! The division of values into owned fields: which lists have keys, which values are atomic.
//!
//! Built-in kinds have a table, custom resources their schema.

use ListRule::{Atomic, Keyed, Set};
use serde_json::{Value, json};

use crate::object::{Object, items_in};
use crate::resources::Kind;

/// The layout of a value, by its path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout<'a> {
    /// The root of a custom resource, with its schema.
    Custom(Option<&'a Value>),
    /// A value in a custom resource; `None` without a schema.
    Schema(Option<&'a Value>),
    /// A value in a built-in kind: its field, and the field that contains that.
    Builtin { parent: &'a str, field: &'a str },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListKind<'a> {
    Atomic,
    Set,
    Keyed(Vec<&'a str>),
}

impl<'a> Layout<'a> {
    pub(super) fn of(kind: &'a Kind) -> Self {
        match &kind.custom {
            Some(custom) => Self::Custom(custom.schema.as_ref()),
            None => Self::Builtin {
                parent: "",
                field: "",
            },
        }
    }

    pub(super) fn of_field(self, name: &'a str) -> Self {
        match self {
            // All kinds have the same metadata, independent of their schema.
            Self::Custom(_) if name == "metadata" => Self::Builtin {
                parent: "",
                field: "metadata",
            },
            Self::Custom(schema) | Self::Schema(schema) => Self::Schema(schema.and_then(|s| {
                property(s, name)
                    .or_else(|| s.get("additionalProperties").filter(|s| s.is_object()))
            })),
            Self::Builtin { field, .. } => Self::Builtin {
                parent: field,
                field: name,
            },
        }
    }

    pub(super) fn of_item(self) -> Self {
        match self {
            Self::Custom(schema) | Self::Schema(schema) => {
                Self::Schema(schema.and_then(|s| s.get("items")))
            }
            // Items have the field of their list.
            builtin @ Self::Builtin { .. } => builtin,
        }
    }

    /// True if the type declares this field, as opposed to keys of a map; declared fields exist
    /// without an owner.
    pub(super) fn declares(self, field: &str) -> bool {
        match self {
            Self::Custom(schema) => {
                matches!(field, "apiVersion" | "kind" | "metadata")
                    || schema.is_some_and(|s| property(s, field).is_some())
            }
            Self::Schema(schema) => schema.is_some_and(|s| {
                let is_embedded = s.get("x-kubernetes-embedded-resource") == Some(&true.into());
                property(s, field).is_some() || is_embedded && field == "metadata"
            }),
            // Maps of built-in kinds have scalar values, which are members themselves.
            Self::Builtin { .. } => true,
        }
    }

    pub(super) fn is_atomic_map(self) -> bool {
        match self {
            Self::Custom(schema) | Self::Schema(schema) => {
                word(schema, "x-kubernetes-map-type") == Some("atomic")
            }
            Self::Builtin { parent, field } => is_atomic_map(parent, field),
        }
    }

    pub(super) fn has_atomic_items(self) -> bool {
        match self {
            Self::Builtin { parent, field } => has_atomic_items(parent, field),
            schema => schema.of_item().is_atomic_map(),
        }
    }

    /// The list type of the value.
    pub(super) fn list_kind(self) -> ListKind<'a> {
        match self {
            Self::Custom(schema) | Self::Schema(schema) => {
                match word(schema, "x-kubernetes-list-type") {
                    Some("set") => ListKind::Set,
                    Some("map") => {
                        let keys = |schema| items_in(schema, "x-kubernetes-list-map-keys");
                        let keys = schema.into_iter().flat_map(keys);
                        let mut keys: Vec<&str> = keys.filter_map(Value::as_str).collect();
                        keys.sort_unstable();
                        ListKind::Keyed(keys)
                    }
                    _ => ListKind::Atomic,
                }
            }
            Self::Builtin { parent, field } => match owned_rule(parent, field) {
                ListRule::Atomic => ListKind::Atomic,
                ListRule::Set => ListKind::Set,
                ListRule::Keyed(keys) => ListKind::Keyed(keys.to_vec()),
            },
        }
    }

    /// The branch of an item; `None` if it has no key.
    pub(super) fn item_name(self, kind: &ListKind<'_>, item: &Value) -> Option<String> {
        match (kind, item) {
            (ListKind::Set, Value::Null | Value::Array(_) | Value::Object(_)) => None,
            (ListKind::Set, member) => Some(format!("v:{member}")),
            (ListKind::Keyed(keys), Value::Object(item)) => {
                let fields: Object = keys
                    .iter()
                    .filter_map(|key| {
                        let value = item.get(*key).cloned().or_else(|| self.default_of(key));
                        Some(((*key).to_owned(), value?))
                    })
                    .collect();
                (!fields.is_empty()).then(|| format!("k:{}", Value::Object(fields)))
            }
            _ => None,
        }
    }

    /// The default of a key.
    fn default_of(self, key: &str) -> Option<Value> {
        match self {
            Self::Builtin { .. } => (key == "protocol").then(|| json!("TCP")),
            schema => match schema.of_item() {
                Self::Schema(Some(item)) => property(item, key)?.get("default").cloned(),
                _ => None,
            },
        }
    }
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn word<'a>(schema: Option<&'a Value>, key: &str) -> Option<&'a str> {
    schema?.get(key)?.as_str()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListRule {
    Atomic,
    /// A set of scalars.
    Set,
    /// A list of objects with these keys, sorted.
    Keyed(&'static [&'static str]),
}

type Words = &'static [&'static str];

/// The fields that may contain a list field, its name, and its rules: of server-side apply, and of strategic
/// merge patches.
type ListRow = (Words, &'static str, ListRule, ListRule);

const fn both(parents: Words, field: &'static str, rule: ListRule) -> ListRow {
    (parents, field, rule, rule)
}

const CONTAINERS: &[&str] = &["containers", "initContainers", "ephemeralContainers"];
const NAME: ListRule = Keyed(&["name"]);
const KIND: ListRule = Keyed(&["type"]);
const ADDRESS: ListRule = Keyed(&["ip"]);

const LISTS: &[ListRow] = &[
    both(&["metadata"], "finalizers", Set),
    both(&["metadata"], "ownerReferences", Keyed(&["uid"])),
    both(&["status"], "conditions", KIND),
    both(&["status"], "addresses", KIND),
    both(&["spec"], "containers", NAME),
    both(&["spec"], "initContainers", NAME),
    both(&["spec"], "ephemeralContainers", NAME),
    both(&["spec"], "volumes", NAME),
    both(&["spec"], "imagePullSecrets", NAME),
    both(&["spec"], "schedulingGates", NAME),
    both(&["spec", "scheduling"], "resourceClaims", NAME),
    both(&["spec"], "hostAliases", ADDRESS),
    both(&["spec"], "podCIDRs", Set),
    (
        &["spec"],
        "topologySpreadConstraints",
        Keyed(&["topologyKey", "whenUnsatisfiable"]),
        Keyed(&["topologyKey"]),
    ),
    (
        &["spec"],
        "ports",
        Keyed(&["port", "protocol"]),
        Keyed(&["port"]),
    ),
    (
        CONTAINERS,
        "ports",
        Keyed(&["containerPort", "protocol"]),
        Keyed(&["containerPort"]),
    ),
    both(CONTAINERS, "env", NAME),
    both(CONTAINERS, "volumeMounts", Keyed(&["mountPath"])),
    both(CONTAINERS, "volumeDevices", Keyed(&["devicePath"])),
    (&["resources"], "claims", NAME, Atomic),
    both(&["status"], "podIPs", ADDRESS),
    (&["status"], "hostIPs", Atomic, ADDRESS),
    both(&["status"], "resourceClaimStatuses", NAME),
    both(&[""], "secrets", NAME),
    both(&[""], "webhooks", NAME),
    both(&["webhooks"], "matchConditions", NAME),
    (&["uncountedTerminatedPods"], "succeeded", Set, Atomic),
    (&["uncountedTerminatedPods"], "failed", Set, Atomic),
];

fn row(parent: &str, field: &str) -> Option<&'static ListRow> {
    let mut rows = LISTS.iter();
    rows.find(|(parents, name, ..)| *name == field && parents.contains(&parent))
}

/// The rule of server-side apply for the list `field` below `parent`.
pub(crate) fn owned_rule(parent: &str, field: &str) -> ListRule {
    row(parent, field).map_or(Atomic, |(_, _, owned, _)| *owned)
}

/// The rule of strategic merge patches for it.
pub(crate) fn strategic_rule(parent: &str, field: &str) -> ListRule {
    row(parent, field).map_or(Atomic, |(.., strategic)| *strategic)
}

fn is_atomic_map(parent: &str, field: &str) -> bool {
    match field {
        "selector" | "nodeSelector" | "podSelector" | "scopeSelector" | "dataSource" => {
            parent == "spec"
        }
        "configMapKeyRef" | "fieldRef" | "fileKeyRef" | "resourceFieldRef" | "secretKeyRef" => {
            parent == "valueFrom"
        }
        "secretRef" => parent != "envFrom",
        "controllerExpandSecretRef"
        | "controllerPublishSecretRef"
        | "nodeExpandSecretRef"
        | "nodePublishSecretRef"
        | "nodeStageSecretRef" => parent == "csi",
        "labelSelector" => parent == "topologySpreadConstraints",
        "namespaceSelector" | "objectSelector" => parent == "webhooks",
        "required" | "requiredDuringSchedulingIgnoredDuringExecution" => parent == "nodeAffinity",
        "involvedObject" | "regarding" | "related" | "roleRef" => parent.is_empty(),
        "resource" => parent == "defaultBackend",
        "port" => parent == "service",
        _ => false,
    }
}

fn has_atomic_items(parent: &str, field: &str) -> bool {
    matches!(
        (parent, field),
        ("metadata", "ownerReferences")
            | ("", "secrets")
            | ("spec", "imagePullSecrets" | "evictionResponders")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_define_how_lists_are_owned() {
        let schema = json!({"properties": {
            "map": {
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "name"],
                "items": {"properties": {"name": {"default": "n"}}},
            },
            "set": {"x-kubernetes-list-type": "set"},
            "whole": {"x-kubernetes-map-type": "atomic"},
        }});
        let layout = Layout::Custom(Some(&schema));
        let map = layout.of_field("map");
        let kind = map.list_kind();
        assert_eq!(kind, ListKind::Keyed(vec!["name", "port"]));
        assert_eq!(
            map.item_name(&kind, &json!({"port": 1, "x": 2})).as_deref(),
            Some("k:{\"name\":\"n\",\"port\":1}")
        );
        assert_eq!(layout.of_field("set").list_kind(), ListKind::Set);
        assert_eq!(layout.of_field("plain").list_kind(), ListKind::Atomic);
        assert!(layout.of_field("whole").is_atomic_map());
        assert!(layout.declares("set") && layout.declares("metadata") && !layout.declares("other"));
    }

    #[test]
    fn metadata_is_the_same_for_all_kinds() {
        let schema = json!({"properties": {"metadata": {"type": "object"}}});
        let metadata = Layout::Custom(Some(&schema)).of_field("metadata");
        assert_eq!(metadata.of_field("finalizers").list_kind(), ListKind::Set);
        let owners = metadata.of_field("ownerReferences");
        assert_eq!(owners.list_kind(), ListKind::Keyed(vec!["uid"]));
        assert!(owners.has_atomic_items());
    }

    #[test]
    fn the_rules_differ_where_kubernetes_does() {
        assert_eq!(owned_rule("spec", "ports"), Keyed(&["port", "protocol"]));
        assert_eq!(strategic_rule("spec", "ports"), Keyed(&["port"]));
        assert_eq!(owned_rule("spec", "tolerations"), Atomic);
        assert_eq!(strategic_rule("spec", "tolerations"), Atomic);
        assert_eq!(owned_rule("", "imagePullSecrets"), Atomic);
        assert!(is_atomic_map("spec", "selector") && !is_atomic_map("metadata", "labels"));
    }
}
