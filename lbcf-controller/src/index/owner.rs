//! The owners of BackendRecords, and the units that their backends are reconciled by.

use crate::api::names::{LABEL_BACKEND_GROUP, LABEL_BIND};
use crate::api::{BackendRecord, ObjectKey};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use std::sync::Arc;

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
}
