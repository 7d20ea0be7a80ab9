//! What names an object, and what names a piece of work.

use crate::api::BackendRecord;
use std::fmt;

/// An object's namespace and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// The key of `namespace/name`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of a namespaced object as the API server gave it.
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::new(
            meta.namespace.clone().unwrap_or_default(),
            meta.name.clone().unwrap_or_default(),
        )
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A piece of work: one object that somebody has to look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum WorkKey {
    /// A LoadBalancerDriver.
    Driver(ObjectKey),
    /// A LoadBalancer.
    LoadBalancer(ObjectKey),
    /// A BackendGroup.
    Group(ObjectKey),
    /// A BackendRecord.
    Record(ObjectKey),
    /// A Bind: its records, and its going.
    Bind(ObjectKey),
    /// One load balancer of a Bind. Each has work of its own, so that a slow one holds up no
    /// other (u5).
    BindLoadBalancer(BindLoadBalancerKey),
    /// Asking a driver about an owner's pods that are not ready. It has work of its own, so that
    /// what is certain does not wait for a driver that thinks.
    Judgement(Owner),
}

/// A Bind and the name of one of its load balancers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BindLoadBalancerKey {
    /// The Bind.
    pub bind: ObjectKey,
    /// The load balancer's name in it.
    pub name: String,
}

impl fmt::Display for BindLoadBalancerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.bind, self.name)
    }
}

/// What owns records: it says which backends there shall be (b41).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    /// A BackendGroup.
    Group(ObjectKey),
    /// A Bind.
    Bind(ObjectKey),
}

impl Owner {
    /// The owner of a record; none where nobody that we know owns it.
    #[must_use]
    pub(crate) fn of(record: &BackendRecord) -> Option<Self> {
        let owners = record.metadata.owner_references.iter().flatten();
        let owner = owners
            .filter(|owner| owner.controller == Some(true))
            .find(|owner| matches!(owner.kind.as_str(), "BackendGroup" | "Bind"))?;
        let namespace = record.metadata.namespace.clone().unwrap_or_default();
        let key = ObjectKey::new(namespace, owner.name.clone());
        Some(match owner.kind.as_str() {
            "Bind" => Self::Bind(key),
            _ => Self::Group(key),
        })
    }

    /// The object.
    #[must_use]
    pub(crate) const fn key(&self) -> &ObjectKey {
        match self {
            Self::Group(key) | Self::Bind(key) => key,
        }
    }

    /// The work that looks after its records.
    #[must_use]
    pub(crate) fn work(&self) -> WorkKey {
        match self {
            Self::Group(key) => WorkKey::Group(key.clone()),
            Self::Bind(key) => WorkKey::Bind(key.clone()),
        }
    }
}

impl WorkKey {
    /// The kinds that there is work for.
    pub(crate) const KINDS: [&str; 5] = [
        "LoadBalancerDriver",
        "LoadBalancer",
        "BackendGroup",
        "BackendRecord",
        "Bind",
    ];

    /// The kind, as metrics and logs name it (b144).
    #[must_use]
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Driver(_) => "LoadBalancerDriver",
            Self::LoadBalancer(_) => "LoadBalancer",
            Self::Group(_) | Self::Judgement(Owner::Group(_)) => "BackendGroup",
            Self::Record(_) => "BackendRecord",
            Self::Bind(_) | Self::BindLoadBalancer(_) | Self::Judgement(Owner::Bind(_)) => "Bind",
        }
    }

    /// Which part of the object, where it is not the whole.
    #[must_use]
    pub(crate) fn part(&self) -> Option<&str> {
        match self {
            Self::BindLoadBalancer(key) => Some(&key.name),
            Self::Judgement(_) => Some("judgement"),
            _ => None,
        }
    }

    /// The object.
    #[must_use]
    pub(crate) const fn object(&self) -> &ObjectKey {
        match self {
            Self::Driver(key)
            | Self::LoadBalancer(key)
            | Self::Group(key)
            | Self::Record(key)
            | Self::Bind(key) => key,
            Self::BindLoadBalancer(key) => &key.bind,
            Self::Judgement(owner) => owner.key(),
        }
    }
}

impl fmt::Display for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.object())?;
        match self.part() {
            Some(part) => write!(f, " ({part})"),
            None => Ok(()),
        }
    }
}
