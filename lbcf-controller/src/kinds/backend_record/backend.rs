//! The whole pod or service behind a record, for a driver.

use super::endpoint;
use crate::api::{BackendRecord, ObjectKey, PodBackendRecord, ServiceBackendRecord, names};
use crate::backends::{node_source, source_of};
use crate::index::{NodeView, Owner, PodView, ServiceView};
use crate::runtime::{Context, Error};
use lbcf_driver_sdk::webhook::{GenerateBackendAddrRequest, PodBackend, ServiceBackend};

/// Puts the backend into the request, as the API server has it now.
///
/// # Errors
/// [`Error::BackendChanged`] if it is not what the record was created for, or cannot be registered
/// now (b120). A watch event follows that replaces or enqueues the record, unless the change was
/// reverted: therefore it is retried.
pub(super) async fn fetch(
    context: &Context,
    record: &BackendRecord,
    request: &mut GenerateBackendAddrRequest,
) -> Result<(), Error> {
    let mut name = "";
    if let Some(backend) = &record.spec.endpoint_backend {
        name = &backend.address;
        let found = endpoint::find(&context.index(), record);
        let Some((pod_uid, wire)) = found else {
            return Err(Error::BackendChanged(name.to_owned()));
        };
        if let (Some(pod), Some(uid)) = (&record.spec.pod_backend, pod_uid) {
            request.pod_backend = fetch_target(context, record, pod, &uid).await?;
            if request.pod_backend.is_none() {
                return Err(Error::BackendChanged(name.to_owned()));
            }
        }
        request.endpoint_backend = Some(wire);
        return Ok(());
    }
    if let Some(pod) = &record.spec.pod_backend {
        name = &pod.name;
        request.pod_backend = fetch_pod(context, record, pod).await?;
    } else if let Some(service) = &record.spec.service_backend {
        name = &service.name;
        request.service_backend = fetch_service(context, record, service).await?;
    }
    if request.pod_backend.is_none() && request.service_backend.is_none() {
        return Err(Error::BackendChanged(name.to_owned()));
    }
    Ok(())
}

/// The key of an object in a record's namespace.
fn beside(record: &BackendRecord, name: &str) -> ObjectKey {
    let namespace = record.metadata.namespace.clone().unwrap_or_default();
    ObjectKey::new(namespace, name)
}

async fn fetch_pod(
    context: &Context,
    record: &BackendRecord,
    backend: &PodBackendRecord,
) -> Result<Option<PodBackend>, Error> {
    let pod = context.cluster.get(&beside(record, &backend.name)).await?;
    let pod = pod.filter(|pod| {
        let view = PodView::of(pod);
        is_pod_of(record, backend, &view) && view.is_available()
    });
    let port = backend.port.to_wire();
    Ok(pod.map(|pod| PodBackend { pod, port }))
}

/// The pod that an endpoint stands for. The slices say whether it is ready (e6).
async fn fetch_target(
    context: &Context,
    record: &BackendRecord,
    backend: &PodBackendRecord,
    uid: &str,
) -> Result<Option<PodBackend>, Error> {
    let pod = context.cluster.get(&beside(record, &backend.name)).await?;
    let pod = pod.filter(|pod| {
        let view = PodView::of(pod);
        view.uid == uid && !view.deleting
    });
    let port = backend.port.to_wire();
    Ok(pod.map(|pod| PodBackend { pod, port }))
}

/// Whether the record was created for this pod, whose uid or address is in the record's name (b45,
/// b48), and not for an earlier one of the same name.
fn is_pod_of(record: &BackendRecord, backend: &PodBackendRecord, pod: &PodView) -> bool {
    let name = record.metadata.name.as_deref().unwrap_or_default();
    let (lb, port) = (&record.spec.lb_name, backend.port.number());
    match Owner::of(record) {
        Some(Owner::Group(group)) => {
            let protocol = backend.port.protocol();
            names::pod_record_name(lb, &group.name, &pod.uid, port, protocol.as_str()) == name
        }
        Some(Owner::Bind(bind)) => {
            let protocol = backend.port.protocol.as_deref().unwrap_or_default();
            let (pod, ip) = (&pod.key.name, &pod.ip);
            names::bind_record_names(&bind.name, lb, pod, ip, protocol, port)
                .iter()
                .any(|known| known == name)
        }
        None => false,
    }
}

async fn fetch_service(
    context: &Context,
    record: &BackendRecord,
    backend: &ServiceBackendRecord,
) -> Result<Option<ServiceBackend>, Error> {
    let node = ObjectKey::new("", backend.node_name.clone());
    let Some(node) = context.index().find::<NodeView>(&node) else {
        return Ok(None);
    };
    // Another node of that name, or other addresses, need another record.
    if source_of(record).is_some_and(|source| *source != node_source(&node)) {
        return Ok(None);
    }
    let service = context.cluster.get(&beside(record, &backend.name)).await?;
    let port = backend.port.to_wire();
    let service = service.filter(|service| {
        let node_port = ServiceView::of(service).node_port(port.port, port.protocol.as_str());
        node_port == Some(backend.node_port)
    });
    Ok(service.map(|service| ServiceBackend {
        service,
        port,
        node_name: backend.node_name.clone(),
        node_addresses: node.addresses.clone(),
    }))
}
