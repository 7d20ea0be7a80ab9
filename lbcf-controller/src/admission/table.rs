//! The list of admission webhooks, from which the routes and the webhook configurations are
//! derived.

use crate::api::{BackendGroup, Bind, GROUP, LoadBalancer, LoadBalancerDriver};
use Action::{Mutate, Validate, ValidateWithDrivers};
use Operation::{Create, Delete, Update};
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Driver,
    LoadBalancer,
    BackendGroup,
    Bind,
    /// Of which only those are admitted that get the readiness gate.
    Pod,
}

impl Kind {
    pub(super) fn resource(self) -> ApiResource {
        match self {
            Self::Driver => ApiResource::erase::<LoadBalancerDriver>(&()),
            Self::LoadBalancer => ApiResource::erase::<LoadBalancer>(&()),
            Self::BackendGroup => ApiResource::erase::<BackendGroup>(&()),
            Self::Bind => ApiResource::erase::<Bind>(&()),
            Self::Pod => ApiResource::erase::<Pod>(&()),
        }
    }

    /// The webhook's name in the configurations, as in the original.
    pub(super) fn webhook_name(self) -> String {
        let short = match self {
            Self::Driver => "driver",
            Self::LoadBalancer => "lb",
            Self::BackendGroup => "backendgroup",
            Self::Bind => "bind",
            Self::Pod => "pod",
        };
        format!("{short}.{GROUP}")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// `None` for an operation that the rules do not list.
    pub(super) fn read(text: &str) -> Option<Self> {
        [Create, Update, Delete]
            .into_iter()
            .find(|operation| operation.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Mutate,
    Validate,
    /// The timeout is longer, and a dry run calls only drivers that accept it.
    ValidateWithDrivers,
}

#[derive(Debug)]
pub(super) struct Hook {
    /// The path that the webhook configurations name.
    pub(super) path: &'static str,
    /// A second path, for a path with the original's spelling.
    pub(super) alias: Option<&'static str>,
    pub(super) kind: Kind,
    pub(super) action: Action,
    pub(super) operations: &'static [Operation],
}

/// All admission webhooks. Mutation includes updates of all LBCF's kinds, so that numbers become strings
/// and webhooks that a manifest does not list keep their timeout.
pub(super) const HOOKS: &[Hook] = &[
    hook("/mutate-load-balancer-driver", Kind::Driver, Mutate),
    hook("/mutate-load-balancer", Kind::LoadBalancer, Mutate),
    Hook {
        alias: Some("/mutate-backend-group"),
        // The original's spelling, which existing configurations contain.
        ..hook("/mutate-backend-broup", Kind::BackendGroup, Mutate)
    },
    hook("/mutate-bind", Kind::Bind, Mutate),
    Hook {
        // The gates of a pod cannot change.
        operations: &[Create],
        ..hook("/mutate-pod", Kind::Pod, Mutate)
    },
    hook("/validate-load-balancer-driver", Kind::Driver, Validate),
    hook(
        "/validate-load-balancer",
        Kind::LoadBalancer,
        ValidateWithDrivers,
    ),
    hook(
        "/validate-backend-group",
        Kind::BackendGroup,
        ValidateWithDrivers,
    ),
    hook("/validate-bind", Kind::Bind, ValidateWithDrivers),
];

const fn hook(path: &'static str, kind: Kind, action: Action) -> Hook {
    let operations: &[Operation] = match (kind, action) {
        (_, Mutate) | (Kind::Bind, _) => &[Create, Update],
        _ => &[Create, Update, Delete],
    };
    Hook {
        path,
        alias: None,
        kind,
        action,
        operations,
    }
}
