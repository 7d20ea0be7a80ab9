//! How a record is made.

use crate::api::{BackendRecord, BackendRecordSpec, PodSelection};
use crate::index::{NodeView, PodView};
use crate::names;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// A record of an owner. It is born with its finalizer, so that it cannot go before its backend
/// does; and in its owner's namespace (b51).
#[must_use]
pub(crate) fn record<K: Resource<DynamicType = ()>>(
    owner: &K,
    name: String,
    labels: impl IntoIterator<Item = (&'static str, String)>,
    source: Option<String>,
    spec: BackendRecordSpec,
) -> BackendRecord {
    let labels = labels.into_iter();
    let labels = labels.map(|(label, value)| (label.to_owned(), value));
    let mut record = BackendRecord::new(&name, spec);
    record.metadata = ObjectMeta {
        name: Some(name),
        namespace: owner.meta().namespace.clone(),
        labels: Some(labels.collect()),
        annotations: source
            .map(|source| BTreeMap::from([(names::ANNOTATION_SOURCE.to_owned(), source)])),
        finalizers: Some(vec![names::FINALIZER_BACKEND_RECORD.to_owned()]),
        owner_references: Some(vec![OwnerReference {
            api_version: K::api_version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            name: owner.meta().name.clone().unwrap_or_default(),
            uid: owner.meta().uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }]),
        ..ObjectMeta::default()
    };
    record
}

/// The ports of a selection, each once (b23), with the protocol as it is written there.
#[must_use]
pub(crate) fn ports(selection: &PodSelection) -> Vec<(i32, Protocol)> {
    let legacy = selection.port.iter().filter(|_| selection.ports.is_empty());
    let mut ports = Vec::new();
    for port in selection.ports.iter().chain(legacy) {
        let port = (port.number(), port.protocol());
        if port.0 > 0 && !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

/// What a pod's address is made of.
#[must_use]
pub(crate) fn pod_source(pod: &PodView) -> String {
    pod.ip.clone()
}

/// What a node's address is made of: one word for all its addresses, in whatever order.
#[must_use]
pub(crate) fn node_source(node: &NodeView) -> String {
    let mut addresses: Vec<_> = node
        .addresses
        .iter()
        .map(|address| format!("{}={}", address.type_, address.address))
        .collect();
    addresses.sort();
    names::digest(&addresses.join(","))
}
