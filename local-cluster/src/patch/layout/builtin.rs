//! The lists and maps of built-in kinds that are neither merged nor owned in the usual way.
//!
//! Server-side apply and strategic merge patches treat some lists differently, so the table has a
//! rule for each.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListRule {
    Atomic,
    /// A set of scalars.
    Set,
    /// A list of objects with these keys, sorted.
    Keyed(&'static [&'static str]),
}

use ListRule::{Atomic, Keyed, Set};

/// A list field, the fields that may contain it, and its rules.
struct ListRow {
    parents: &'static [&'static str],
    field: &'static str,
    owned: ListRule,
    strategic: ListRule,
}

const fn both(parents: &'static [&'static str], field: &'static str, rule: ListRule) -> ListRow {
    differs(parents, field, rule, rule)
}

const fn differs(
    parents: &'static [&'static str],
    field: &'static str,
    owned: ListRule,
    strategic: ListRule,
) -> ListRow {
    ListRow {
        parents,
        field,
        owned,
        strategic,
    }
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
    differs(
        &["spec"],
        "topologySpreadConstraints",
        Keyed(&["topologyKey", "whenUnsatisfiable"]),
        Keyed(&["topologyKey"]),
    ),
    differs(
        &["spec"],
        "ports",
        Keyed(&["port", "protocol"]),
        Keyed(&["port"]),
    ),
    differs(
        CONTAINERS,
        "ports",
        Keyed(&["containerPort", "protocol"]),
        Keyed(&["containerPort"]),
    ),
    both(CONTAINERS, "env", NAME),
    both(CONTAINERS, "volumeMounts", Keyed(&["mountPath"])),
    both(CONTAINERS, "volumeDevices", Keyed(&["devicePath"])),
    differs(&["resources"], "claims", NAME, Atomic),
    both(&["status"], "podIPs", ADDRESS),
    differs(&["status"], "hostIPs", Atomic, ADDRESS),
    both(&["status"], "resourceClaimStatuses", NAME),
    both(&[""], "secrets", NAME),
    both(&[""], "webhooks", NAME),
    both(&["webhooks"], "matchConditions", NAME),
    differs(&["uncountedTerminatedPods"], "succeeded", Set, Atomic),
    differs(&["uncountedTerminatedPods"], "failed", Set, Atomic),
];

fn row(parent: &str, field: &str) -> Option<&'static ListRow> {
    LISTS
        .iter()
        .find(|row| row.field == field && row.parents.contains(&parent))
}

/// The rule of server-side apply for the list `field` below `parent`.
pub(crate) fn owned_rule(parent: &str, field: &str) -> ListRule {
    row(parent, field).map_or(Atomic, |row| row.owned)
}

/// The rule of strategic merge patches for it.
pub(crate) fn strategic_rule(parent: &str, field: &str) -> ListRule {
    row(parent, field).map_or(Atomic, |row| row.strategic)
}

pub(super) fn is_atomic_map(parent: &str, field: &str) -> bool {
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

pub(super) fn has_atomic_items(parent: &str, field: &str) -> bool {
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
    fn the_rules_differ_where_kubernetes_does() {
        assert_eq!(owned_rule("spec", "ports"), Keyed(&["port", "protocol"]));
        assert_eq!(strategic_rule("spec", "ports"), Keyed(&["port"]));
        assert_eq!(owned_rule("spec", "tolerations"), Atomic);
        assert_eq!(strategic_rule("spec", "tolerations"), Atomic);
        assert_eq!(owned_rule("", "imagePullSecrets"), Atomic);
        assert!(is_atomic_map("spec", "selector") && !is_atomic_map("metadata", "labels"));
    }
}
