use crate::api::{BackendRecord, BackendRecordSpec, PodSelection, names};
use crate::index::{NodeView, PodView};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;
use kube::{Resource, ResourceExt};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// A new record in its owner's namespace (b51). It has its finalizer from the beginning, so that it
/// cannot be deleted before its backend is deregistered.
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
        owner_references: owner_reference(owner).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    record
}

/// How records refer to their owner; none if the API server has not stored it.
pub(crate) fn owner_reference<K: Resource<DynamicType = ()>>(owner: &K) -> Option<OwnerReference> {
    Some(OwnerReference {
        block_owner_deletion: Some(true),
        ..owner.controller_owner_ref(&())?
    })
}

/// The ports of a selection without duplicates (b23).
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

/// The value of [`names::ANNOTATION_SOURCE`] for a pod.
pub(crate) fn pod_source(pod: &PodView) -> String {
    pod.ip.clone()
}

/// The value of [`names::ANNOTATION_SOURCE`] for a node: a digest of its addresses, in any order.
pub(crate) fn node_source(node: &NodeView) -> String {
    let mut addresses: Vec<_> = node
        .addresses
        .iter()
        .map(|address| format!("{}={}", address.type_, address.address))
        .collect();
    addresses.sort();
    names::digest(&addresses.join(","))
}

/// What a record's address was generated from; none for records of the original controller.
pub(crate) fn source_of(record: &BackendRecord) -> Option<&String> {
    record.annotations().get(names::ANNOTATION_SOURCE)
}
