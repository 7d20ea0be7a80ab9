//! The built-in kinds.
//!
//! A kind that only has to be kept and watched costs a line here. What else a cluster does with
//! pods, namespaces or definitions is in `agents`.

use super::{Kind, View};
use crate::store::Resource;

struct Row {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short: &'static [&'static str],
    categories: &'static [&'static str],
    traits: &'static [Trait],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    /// Not in a namespace.
    Cluster,
    /// Has a status subresource.
    Status,
    /// Counts generations.
    Generation,
    /// A deletion answers with the object.
    ReturnsDeleted,
    /// An update must name the version it is based on.
    Versioned,
}

use Trait::{Cluster, Generation, ReturnsDeleted, Status, Versioned};

const ROWS: &[Row] = &[
    row("", "ConfigMap", "configmaps", "configmap", &["cm"], &[]),
    row("", "Event", "events", "event", &["ev"], &[]),
    row(
        "",
        "Namespace",
        "namespaces",
        "namespace",
        &["ns"],
        &[Cluster, Status],
    ),
    row("", "Node", "nodes", "node", &["no"], &[Cluster, Status]),
    Row {
        categories: &["all"],
        ..row(
            "",
            "Pod",
            "pods",
            "pod",
            &["po"],
            &[Status, Generation, ReturnsDeleted],
        )
    },
    row("", "Secret", "secrets", "secret", &[], &[]),
    row(
        "",
        "ServiceAccount",
        "serviceaccounts",
        "serviceaccount",
        &["sa"],
        &[ReturnsDeleted],
    ),
    Row {
        categories: &["all"],
        ..row(
            "",
            "Service",
            "services",
            "service",
            &["svc"],
            &[Status, ReturnsDeleted],
        )
    },
    row("events.k8s.io", "Event", "events", "event", &["ev"], &[]),
    Row {
        categories: &["api-extensions"],
        ..row(
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            "mutatingwebhookconfiguration",
            &[],
            &[Cluster, Generation, Versioned],
        )
    },
    Row {
        categories: &["api-extensions"],
        ..row(
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            "validatingwebhookconfiguration",
            &[],
            &[Cluster, Generation, Versioned],
        )
    },
    Row {
        categories: &["api-extensions"],
        ..row(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            "customresourcedefinition",
            &["crd", "crds"],
            &[Cluster, Status, Generation, Versioned],
        )
    },
    row(
        "coordination.k8s.io",
        "Lease",
        "leases",
        "lease",
        &[],
        &[Versioned],
    ),
];

const fn row(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short: &'static [&'static str],
    traits: &'static [Trait],
) -> Row {
    Row {
        group,
        version: "v1",
        kind,
        plural,
        singular,
        short,
        categories: &[],
        traits,
    }
}

/// All built-in kinds.
pub(super) fn kinds() -> Vec<Kind> {
    ROWS.iter().map(Row::kind).collect()
}

impl Row {
    fn kind(&self) -> Kind {
        let is = |t: Trait| self.traits.contains(&t);
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        let events_v1 = self.group == "events.k8s.io";
        Kind {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.to_owned(),
            singular: self.singular.to_owned(),
            short_names: owned(self.short),
            categories: owned(self.categories),
            namespaced: !is(Cluster),
            has_status: is(Status),
            has_generation: is(Generation),
            returns_deleted: is(ReturnsDeleted),
            unconditional_update: !is(Versioned),
            view: if events_v1 {
                View::EventsV1
            } else {
                View::Plain
            },
            // Both event APIs read and write the same objects.
            storage: Resource::new(if events_v1 { "" } else { self.group }, self.plural),
            custom: None,
        }
    }
}
