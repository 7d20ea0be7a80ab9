//! Reconcile requests and their keys, and the owners of BackendRecords.

use crate::api::names::{LABEL_BACKEND_GROUP, LABEL_BIND, OwnerName};
use crate::api::{BackendRecord, ObjectKey};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use std::fmt;
use std::sync::Arc;

/// Names what a reconcile request is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum RequestKey {
    Driver(ObjectKey),
    /// A probe of a driver. It is separate from reconciling the driver, for which objects wait that
    /// begin to use it.
    DriverHealth(ObjectKey),
    LoadBalancer(ObjectKey),
    Group(ObjectKey),
    /// A Bind's records, finalizer and deletion.
    Bind(ObjectKey),
    /// One load balancer of a Bind. Each is reconciled on its own, so that a slow one delays no
    /// other.
    BindLoadBalancer(BindLoadBalancerKey),
    Record(ObjectKey),
    /// The readiness gate of a pod that has it.
    Pod(ObjectKey),
    /// The load balancers of a Service of type LoadBalancer.
    Service(ObjectKey),
    /// Calling `judgePodDeregister` for an owner's pods that are not ready. It is separate from
    /// reconciling the owner, so that a slow driver does not delay its other backends.
    DeregisterVerdict(Owner),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BindLoadBalancerKey {
    pub bind: ObjectKey,
    /// The load balancer's name in the Bind.
    pub name: String,
}

impl Owner {
    pub(crate) fn request_key(&self) -> RequestKey {
        match self {
            Self::Group(key) => RequestKey::Group(key.clone()),
            Self::Bind(key) => RequestKey::Bind(key.clone()),
        }
    }
}

impl RequestKey {
    pub(crate) const KINDS: [&str; 7] = [
        "LoadBalancerDriver",
        "LoadBalancer",
        "BackendGroup",
        "BackendRecord",
        "Bind",
        "Pod",
        "Service",
    ];

    /// The kind, as metrics and logs name it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Driver(_) | Self::DriverHealth(_) => "LoadBalancerDriver",
            Self::LoadBalancer(_) => "LoadBalancer",
            Self::Group(_) | Self::DeregisterVerdict(Owner::Group(_)) => "BackendGroup",
            Self::Record(_) => "BackendRecord",
            Self::Pod(_) => "Pod",
            Self::Service(_) => "Service",
            Self::Bind(_) | Self::BindLoadBalancer(_) | Self::DeregisterVerdict(Owner::Bind(_)) => {
                "Bind"
            }
        }
    }

    /// The part of the object that the request is for, if it is not for the whole.
    pub(crate) fn part(&self) -> Option<&str> {
        match self {
            Self::BindLoadBalancer(key) => Some(&key.name),
            Self::DeregisterVerdict(_) => Some("deregister verdict"),
            Self::DriverHealth(_) => Some("health"),
            _ => None,
        }
    }

    pub(crate) const fn object(&self) -> &ObjectKey {
        match self {
            Self::Driver(key)
            | Self::DriverHealth(key)
            | Self::LoadBalancer(key)
            | Self::Group(key)
            | Self::Record(key)
            | Self::Pod(key)
            | Self::Service(key)
            | Self::Bind(key) => key,
            Self::BindLoadBalancer(key) => &key.bind,
            Self::DeregisterVerdict(owner) => owner.key(),
        }
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.object())?;
        match self.part() {
            Some(part) => write!(f, " ({part})"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    /// A count changed: reconciled once for all requests that arrive within a moment.
    Batched,
    Normal,
    /// Something may have to be deregistered. Reconciled before requests that only add backends,
    /// because until a backend is deregistered clients may be sent to a pod that is gone.
    High,
}

/// Asks for an object to be reconciled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub key: RequestKey,
    pub priority: Priority,
}

impl Request {
    pub(crate) const fn batched(key: RequestKey) -> Self {
        let priority = Priority::Batched;
        Self { key, priority }
    }

    pub(crate) const fn normal(key: RequestKey) -> Self {
        let priority = Priority::Normal;
        Self { key, priority }
    }

    pub(crate) const fn high(key: RequestKey) -> Self {
        let priority = Priority::High;
        Self { key, priority }
    }

    pub(crate) const fn high_if(may_deregister: bool, key: RequestKey) -> Self {
        if may_deregister {
            Self::high(key)
        } else {
            Self::normal(key)
        }
    }
}

/// The name of a pod or node, or an address: what an owner's backends are reconciled by.
pub(crate) type Unit = Arc<str>;

/// The controller of BackendRecords, in the sense of owner references.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    Group(ObjectKey),
    Bind(ObjectKey),
}

/// The controller of a record, whatever its kind.
pub(crate) fn controller_of(record: &BackendRecord) -> Option<&OwnerReference> {
    let mut owners = record.metadata.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true))
}

impl Owner {
    /// The owner of a record: its controller or, if it has none, the BackendGroup or Bind that its
    /// labels name, which may adopt it. None if its controller is of another kind.
    pub(crate) fn of(record: &BackendRecord) -> Option<Self> {
        let key = |name: &str| {
            let namespace = record.metadata.namespace.clone().unwrap_or_default();
            ObjectKey::new(namespace, name)
        };
        if let Some(controller) = controller_of(record) {
            return match controller.kind.as_str() {
                "BackendGroup" => Some(Self::Group(key(&controller.name))),
                "Bind" => Some(Self::Bind(key(&controller.name))),
                _ => None,
            };
        }
        let labels = record.labels();
        let group = labels.get(LABEL_BACKEND_GROUP);
        let group = group.map(|name| Self::Group(key(name)));
        group.or_else(|| Some(Self::Bind(key(labels.get(LABEL_BIND)?))))
    }

    pub(crate) const fn key(&self) -> &ObjectKey {
        match self {
            Self::Group(key) | Self::Bind(key) => key,
        }
    }

    pub(crate) fn name(&self) -> OwnerName<'_> {
        match self {
            Self::Group(key) => OwnerName::Group(&key.name),
            Self::Bind(key) => OwnerName::Bind(&key.name),
        }
    }
}
