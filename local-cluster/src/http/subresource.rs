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
    /// Of requests for certificates.
    Approval,
    Log,
    Attach,
    Exec,
    Portforward,
    Proxy,
    Resize,
    Ephemeralcontainers,
    /// Of service accounts.
    Token,
}

const ALL: [Subresource; 14] = [
    Subresource::Approval,
    Subresource::Attach,
    Subresource::Binding,
    Subresource::Ephemeralcontainers,
    Subresource::Eviction,
    Subresource::Exec,
    Subresource::Finalize,
    Subresource::Log,
    Subresource::Portforward,
    Subresource::Proxy,
    Subresource::Resize,
    Subresource::Scale,
    Subresource::Status,
    Subresource::Token,
];

impl Subresource {
    /// The subresources of a kind, by name.
    pub(super) fn all(kind: &Kind) -> impl Iterator<Item = Self> {
        ALL.into_iter().filter(|subresource| match subresource {
            Self::Status => kind.has_status,
            Self::Scale => kind.scale().is_some(),
            Self::Proxy => kind.is("", "pods") || kind.is("", "services") || kind.is("", "nodes"),
            Self::Finalize => kind.is("", "namespaces"),
            Self::Token => kind.is("", "serviceaccounts"),
            Self::Approval => kind.is("certificates.k8s.io", "certificatesigningrequests"),
            Self::Binding
            | Self::Eviction
            | Self::Log
            | Self::Attach
            | Self::Exec
            | Self::Portforward
            | Self::Resize
            | Self::Ephemeralcontainers => kind.is("", "pods"),
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
            Self::Approval => "approval",
            Self::Log => "log",
            Self::Attach => "attach",
            Self::Exec => "exec",
            Self::Portforward => "portforward",
            Self::Proxy => "proxy",
            Self::Resize => "resize",
            Self::Ephemeralcontainers => "ephemeralcontainers",
            Self::Token => "token",
        }
    }

    /// What can be done with it.
    pub(super) fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Status
            | Self::Scale
            | Self::Approval
            | Self::Resize
            | Self::Ephemeralcontainers => &["get", "patch", "update"],
            Self::Binding | Self::Eviction | Self::Token => &["create"],
            Self::Finalize => &["update"],
            Self::Log => &["get"],
            Self::Attach | Self::Exec | Self::Portforward => &["create", "get"],
            Self::Proxy => &["create", "delete", "get", "patch", "update"],
        }
    }

    /// Whether it is about what nodes run.
    pub(super) fn needs_containers(self) -> bool {
        !matches!(
            self,
            Self::Status
                | Self::Scale
                | Self::Approval
                | Self::Binding
                | Self::Eviction
                | Self::Finalize
        )
    }
}
