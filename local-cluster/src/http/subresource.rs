//! The parts of objects that have addresses of their own.

use crate::resources::Kind;

/// A part of an object, or something to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subresource {
    Status,
    Scale,
    /// Of pods: where they run.
    Binding,
    /// Of pods: a deletion that asks whether the pod can be spared.
    Eviction,
    /// Of namespaces: the finalizers of their own.
    Finalize,
}

const ALL: [Subresource; 5] = [
    Subresource::Binding,
    Subresource::Eviction,
    Subresource::Finalize,
    Subresource::Scale,
    Subresource::Status,
];

impl Subresource {
    /// The subresources of a kind, by name.
    pub(super) fn all(kind: &Kind) -> impl Iterator<Item = Self> {
        ALL.into_iter().filter(|subresource| match subresource {
            Self::Status => kind.has_status,
            Self::Scale => kind.scale().is_some(),
            Self::Binding | Self::Eviction => kind.is("", "pods"),
            Self::Finalize => kind.is("", "namespaces"),
        })
    }

    /// The subresource of this name, if the kind has it.
    pub(super) fn of(kind: &Kind, name: &str) -> Option<Self> {
        Self::all(kind).find(|subresource| subresource.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Binding => "binding",
            Self::Eviction => "eviction",
            Self::Finalize => "finalize",
        }
    }

    /// What can be done with it.
    pub(super) fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Status | Self::Scale => &["get", "patch", "update"],
            Self::Binding | Self::Eviction => &["create"],
            Self::Finalize => &["update"],
        }
    }
}
