//! The whole pod or service behind a record, for a driver.

use super::endpoint;
use crate::api::{BackendRecord, ObjectKey, PodBackendRecord, ServiceBackendRecord};
use crate::backends::{Backend, node_source, pod_port, source_of};
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
            // The slices say whether it is ready (e6).
            let is_target = |pod: &PodView| *pod.uid == *uid && !pod.deleting;
            request.pod_backend = fetch_pod(context, record, pod, is_target).await?;
            if request.pod_backend.is_none() {
                return Err(Error::BackendChanged(name.to_owned()));
            }
        }
        request.endpoint_backend = Some(wire);
        return Ok(());
    }
    if let Some(pod) = &record.spec.pod_backend {
        name = &pod.name;
        let is_it = |found: &PodView| is_pod_of(record, pod, found) && found.is_available();
        request.pod_backend = fetch_pod(context, record, pod, is_it).await?;
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
    is_it: impl FnOnce(&PodView) -> bool + Send,
) -> Result<Option<PodBackend>, Error> {
    let pod = context.cluster.get(&beside(record, &backend.name)).await?;
    let pod = pod.filter(|pod| is_it(&PodView::of(pod)));
    let port = backend.port.to_wire();
    Ok(pod.map(|pod| PodBackend { pod, port }))
}

/// True if the record was created for this pod, whose uid or address is in the record's name, and not for
/// an earlier pod of the same name.
fn is_pod_of(record: &BackendRecord, backend: &PodBackendRecord, pod: &PodView) -> bool {
    let Some(owner) = Owner::of(record) else {
        return false;
    };
    let port = pod_port(&owner, &backend.port);
    let names = Backend::Pod { pod, port }.record_names(&owner, &record.spec.lb_name);
    names
        .iter()
        .any(|name| record.metadata.name.as_ref() == Some(name))
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
