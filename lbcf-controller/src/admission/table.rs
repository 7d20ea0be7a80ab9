//! The table of admission webhooks: the one place that lists them (b63, b64).
//!
//! The router's routes and the configurations that the API server reads come from it.

use crate::api::{BackendGroup, Bind, GROUP, LoadBalancer, LoadBalancerDriver};
use Operation::{Create, Delete, Update};
use kube::Resource;

/// The kinds that are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Driver,
    LoadBalancer,
    BackendGroup,
    Bind,
}

/// A kind as Kubernetes names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KindNames {
    pub(super) kind: String,
    pub(super) version: String,
    /// The plural in lower case.
    pub(super) resource: String,
}

impl Kind {
    pub(super) fn names(self) -> KindNames {
        fn names<K: Resource<DynamicType = ()>>() -> KindNames {
            KindNames {
                kind: K::kind(&()).into_owned(),
                version: K::version(&()).into_owned(),
                resource: K::plural(&()).into_owned(),
            }
        }
        match self {
            Self::Driver => names::<LoadBalancerDriver>(),
            Self::LoadBalancer => names::<LoadBalancer>(),
            Self::BackendGroup => names::<BackendGroup>(),
            Self::Bind => names::<Bind>(),
        }
    }

    /// The webhook's name in the configurations, which is the original's.
    pub(super) fn webhook_name(self) -> String {
        let short = match self {
            Self::Driver => "driver",
            Self::LoadBalancer => "lb",
            Self::BackendGroup => "backendgroup",
            Self::Bind => "bind",
        };
        format!("{short}.{GROUP}")
    }
}

/// What somebody does to an object.
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

    /// None for operations that nobody asks us about (b65).
    pub(super) fn read(text: &str) -> Option<Self> {
        [Create, Update, Delete]
            .into_iter()
            .find(|operation| operation.as_str() == text)
    }
}

/// What a webhook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Says what shall be different.
    Mutate,
    /// Says yes or no.
    Validate {
        /// Whether it may ask drivers, which takes time, and which a rehearsal must not do
        /// unless the driver agrees.
        asks_drivers: bool,
    },
}

/// One admission webhook.
#[derive(Debug)]
pub(super) struct Hook {
    /// Where the API server calls it.
    pub(super) path: &'static str,
    /// Where it is served as well.
    pub(super) alias: Option<&'static str>,
    pub(super) kind: Kind,
    pub(super) action: Action,
    pub(super) operations: &'static [Operation],
}

const VALIDATE: Action = Action::Validate {
    asks_drivers: false,
};
const VALIDATE_WITH_DRIVERS: Action = Action::Validate { asks_drivers: true };

/// Every admission webhook. Mutation covers updates of all kinds, so that numbers become strings
/// (d20) and webhooks that a manifest does not name keep their timeout (u24) there too.
pub(super) const HOOKS: &[Hook] = &[
    Hook {
        path: "/mutate-load-balancer-driver",
        alias: None,
        kind: Kind::Driver,
        action: Action::Mutate,
        operations: &[Create, Update],
    },
    Hook {
        path: "/mutate-load-balancer",
        alias: None,
        kind: Kind::LoadBalancer,
        action: Action::Mutate,
        operations: &[Create, Update],
    },
    Hook {
        // The original's spelling, which configurations in clusters have.
        path: "/mutate-backend-broup",
        alias: Some("/mutate-backend-group"),
        kind: Kind::BackendGroup,
        action: Action::Mutate,
        operations: &[Create, Update],
    },
    Hook {
        path: "/mutate-bind",
        alias: None,
        kind: Kind::Bind,
        action: Action::Mutate,
        operations: &[Create, Update],
    },
    Hook {
        path: "/validate-load-balancer-driver",
        alias: None,
        kind: Kind::Driver,
        action: VALIDATE,
        operations: &[Create, Update, Delete],
    },
    Hook {
        path: "/validate-load-balancer",
        alias: None,
        kind: Kind::LoadBalancer,
        action: VALIDATE_WITH_DRIVERS,
        operations: &[Create, Update, Delete],
    },
    Hook {
        path: "/validate-backend-group",
        alias: None,
        kind: Kind::BackendGroup,
        action: VALIDATE_WITH_DRIVERS,
        operations: &[Create, Update, Delete],
    },
    Hook {
        path: "/validate-bind",
        alias: None,
        kind: Kind::Bind,
        action: VALIDATE_WITH_DRIVERS,
        operations: &[Create, Update],
    },
];
