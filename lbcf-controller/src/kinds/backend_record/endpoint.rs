//! The endpoint behind a record, for a driver (d66).

use crate::api::BackendRecord;
use crate::backends::{EndpointState, endpoint_record_name, port_of_slice, the_one};
use crate::index::{Index, Owner, ServicePortView, ServiceView, SliceEndpoint, service_key};
use lbcf_driver_sdk::webhook::{
    AddressType, BackendPort, EndpointBackend, EndpointService, Protocol,
};
use std::sync::Arc;

/// The uid of the pod, if it is one, and what the slices say about the endpoint; none if it is not what
/// the record was created for, or cannot be registered now (b120).
pub(super) fn find(
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

/// True if the endpoint is ready, and is the one that the record was created for.
pub(super) fn is_available(index: &Index, record: &BackendRecord) -> bool {
    find(index, record).is_some()
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

/// True if the record was created for this endpoint, whose target is in the record's name.
fn is_of_record(record: &BackendRecord, found: &SliceEndpoint) -> bool {
    let (Some(owner), Some(backend)) = (Owner::of(record), &record.spec.endpoint_backend) else {
        return false;
    };
    let target = found.endpoint.pod.as_ref();
    let target = target.map_or("", |pod| &*pod.uid);
    let name = endpoint_record_name(&owner, &record.spec.lb_name, backend, target);
    record.metadata.name.as_ref() == Some(&name)
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
