//! Who registers the backend of a record that is being deleted, so that it need not be deregistered.

use crate::api::{BackendGroup, BackendRecord, Bind, ObjectExt, ObjectKey};
use crate::backends::{OwnerKind, ports, usable};
use crate::index::{Index, Lookup, Owner};
use lbcf_driver_sdk::webhook::Protocol;
use std::sync::Arc;

/// The record that is to register the same backend, or the owner that has not created it yet.
pub(super) fn successor(index: &Index, record: &BackendRecord) -> Option<String> {
    if !record.is_deleting() {
        return None;
    }
    if let Some(successor) = index.successor(record) {
        return Some(format!("BackendRecord {successor}"));
    }
    let pod = record.spec.pod_backend.as_ref()?;
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let pod = ObjectKey::new(namespace, pod.name.as_str());
    let owners = index.owners_selecting(&pod);
    let own = Owner::of(record);
    let mut others = owners.filter(|owner| Some(*owner) != own.as_ref());
    let wanting = others.find(|owner| match owner {
        Owner::Group(key) => wants(index, owner, index.get::<BackendGroup>(key), record),
        Owner::Bind(key) => wants(index, owner, index.get::<Bind>(key), record),
    })?;
    Some(wanting.request_key().to_string())
}

fn wants<K: OwnerKind>(
    index: &Index,
    owner: &Owner,
    object: Lookup<Arc<K>>,
    record: &BackendRecord,
) -> bool {
    let (Lookup::Found(object), Some(pod)) = (object, &record.spec.pod_backend) else {
        return false;
    };
    if object.is_deleting() || object.pods().is_none() {
        return false;
    }
    let port = |(number, protocol): &(i32, String)| {
        *number == pod.port.number()
            && protocol.parse::<Protocol>().ok() == Some(pod.port.protocol())
    };
    let status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(index, &status);
    let spec = &record.spec;
    ports(owner, &*object).iter().any(port)
        && usable(&load_balancers)
            .any(|(_, lb)| lb.lb_info == spec.lb_info && lb.driver == spec.lb_driver)
}
