//! The whole pod, Service or endpoint behind a record, for a driver.

use super::backend::{Backend, endpoint_record_name, node_source, source_of};
use super::pods::pod_port;
use super::service::{EndpointState, port_of_slice, the_one};
use crate::api::{BackendRecord, ObjectKey, PodBackendRecord, ServiceBackendRecord, names};
use crate::index::{
    Index, NodeView, Owner, PodView, ServicePortView, ServiceView, SliceEndpoint, service_key,
};
use crate::runtime::{Context, Error};
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::{
    AddressType, BackendPort, EndpointBackend, EndpointService, GenerateBackendAddr,
    KubernetesObject, NodeAddress, PodBackend, Protocol, ServiceBackend,
};
use std::sync::Arc;

/// Puts the backend into the request, as the API server has it now.
///
/// # Errors
/// [`Error::BackendChanged`] if it is not what the record was created for, or cannot be registered
/// now. A watch event follows that replaces or enqueues the record, unless the change was
/// reverted: therefore it is retried.
pub(crate) async fn fetch(
    context: &Context,
    record: &BackendRecord,
    request: &mut GenerateBackendAddr,
) -> Result<(), Error> {
    let mut name = "";
    if let Some(backend) = &record.spec.endpoint_backend {
        name = &backend.address;
        let found = find_endpoint(&context.index(), record);
        let Some((pod_uid, wire)) = found else {
            return Err(Error::BackendChanged(name.to_owned()));
        };
        if let (Some(pod), Some(uid)) = (&record.spec.pod_backend, pod_uid) {
            // The slices say whether it is ready.
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
    let key = beside(record, &backend.name);
    let read = context.pod_pages.find(&context.index(), record, &key);
    let pod = match read {
        Some(pod) => Some(pod),
        None => context.cluster.get(&key).await?,
    };
    let pod = pod.filter(|pod| is_it(&PodView::of(pod)));
    let port = backend.port.to_wire();
    let pod = pod.and_then(|pod| KubernetesObject::of(&pod).ok());
    Ok(pod.map(|pod| PodBackend { pod, port }))
}

/// True if the record was created for this pod, whose uid or address is in the record's name, and not for an
/// earlier one of the same name.
fn is_pod_of(record: &BackendRecord, backend: &PodBackendRecord, pod: &PodView) -> bool {
    let Some(owner) = Owner::of(record) else {
        return false;
    };
    let port = pod_port(&owner, &backend.port);
    let names = Backend::Pod { pod, port }.record_names(&owner, &record.spec.lb_name);
    names.contains(&record.name_any())
}

/// The pod that a record was created for; none if it is gone, or the record registers no pod.
pub(crate) fn pod_of(index: &Index, record: &BackendRecord) -> Option<Arc<PodView>> {
    let backend = record.spec.pod_backend.as_ref()?;
    let pod = index.find::<PodView>(&beside(record, &backend.name))?;
    let is_it = match record.spec.endpoint_backend {
        Some(_) => is_of_target(record, &pod.uid),
        None => is_pod_of(record, backend, &pod),
    };
    is_it.then_some(pod)
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
    let service = service.and_then(|service| KubernetesObject::of(&service).ok());
    let addresses = node.addresses.iter().map(|it| NodeAddress {
        address: it.address.clone(),
        kind: it.type_.clone(),
    });
    Ok(service.map(|service| ServiceBackend {
        service,
        port,
        node_name: backend.node_name.clone(),
        node_addresses: addresses.collect(),
    }))
}

/// The uid of the pod, if it is one, and what the slices say about the endpoint; none if it is not what
/// the record was created for, or cannot be registered now.
fn find_endpoint(
    index: &Index,
    record: &BackendRecord,
) -> Option<(Option<Arc<str>>, EndpointBackend)> {
    let (service, port) = service_port(index, record)?;
    let found = index.endpoints_of_record(record);
    let backend = record.spec.endpoint_backend.as_ref()?;
    let wanted = (backend.port.number(), backend.port.protocol());
    let is_wanted = |found: &&SliceEndpoint| port_of_slice(&port, &found.slice) == Some(wanted);
    let same: Vec<&SliceEndpoint> = found.iter().filter(is_wanted).collect();
    let found = the_one(&same)?;
    let is_same = is_of_record(record, found) && EndpointState::of(found) == EndpointState::Ready;
    let pod_uid = found.endpoint.pod.as_ref().map(|pod| Arc::clone(&pod.uid));
    is_same.then(|| (pod_uid, to_wire(&service, &port, found, wanted)))
}

/// True if the record's pod is available, its node exists, or its endpoint is ready.
pub(crate) fn is_backend_available(index: &Index, record: &BackendRecord) -> bool {
    let spec = &record.spec;
    if spec.endpoint_backend.is_some() {
        find_endpoint(index, record).is_some()
    } else if let Some(pod) = &spec.pod_backend {
        let pod = index.find::<PodView>(&beside(record, &pod.name));
        pod.is_some_and(|pod| pod.is_available())
    } else if let Some(service) = &spec.service_backend {
        let node = ObjectKey::new("", service.node_name.clone());
        index.find::<NodeView>(&node).is_some()
    } else {
        spec.static_addr.is_some()
    }
}

fn service_port(
    index: &Index,
    record: &BackendRecord,
) -> Option<(Arc<ServiceView>, ServicePortView)> {
    let owner = Owner::of(record)?;
    let selection = index.backend_owner(&owner)?.service_of_endpoints()?;
    let service = index.find::<ServiceView>(&service_key(&owner, selection))?;
    let port = service.port(&selection.port)?.clone();
    Some((service, port))
}

/// True if the record was created for this endpoint.
fn is_of_record(record: &BackendRecord, found: &SliceEndpoint) -> bool {
    let target = found.endpoint.pod.as_ref();
    is_of_target(record, target.map_or("", |pod| &*pod.uid))
}

/// True if the record was created for an endpoint with this target, whose uid is in the record's name.
fn is_of_target(record: &BackendRecord, target: &str) -> bool {
    let (Some(owner), Some(backend)) = (Owner::of(record), &record.spec.endpoint_backend) else {
        return false;
    };
    let name = endpoint_record_name(&owner, &record.spec.lb_name, backend, target);
    let is = record.name_any();
    is == name || is == names::other_name(&name)
}

fn to_wire(
    service: &ServiceView,
    service_port: &ServicePortView,
    found: &SliceEndpoint,
    port: (i32, Protocol),
) -> EndpointBackend {
    let SliceEndpoint {
        slice,
        endpoint,
        awaits_gate,
    } = found;
    let text = |text: &Option<Arc<str>>| text.as_ref().map(ToString::to_string);
    let protocol = service_port.protocol();
    let mut ports = slice.ports.iter();
    let slice_port = ports.find(|it| it.name == service_port.name && it.protocol == protocol);
    EndpointBackend {
        address: endpoint.address.to_string(),
        port: port.0,
        protocol: port.1,
        address_type: AddressType::from(slice.family.as_str().to_owned()),
        node_name: text(&endpoint.node_name),
        zone: text(&endpoint.zone),
        hostname: text(&endpoint.hostname),
        for_zones: endpoint.for_zones.iter().map(ToString::to_string).collect(),
        app_protocol: slice_port.and_then(|port| port.app_protocol.clone()),
        serving: endpoint.conditions.is_serving() || *awaits_gate,
        terminating: endpoint.conditions.is_terminating(),
        service: EndpointService {
            namespace: service.key.namespace.to_string(),
            name: service.key.name.to_string(),
            port: BackendPort {
                port: service_port.port,
                protocol,
            },
            port_name: service_port.name.clone(),
        },
    }
}
