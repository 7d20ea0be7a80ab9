//! The records of a Service's backends.

use super::candidates::BackendOfService;
use super::endpoints::EndpointPort;
use crate::api::{
    BackendRecordSpec, EndpointBackendRecord, PodBackendRecord, PortSelector, ServiceBackendRecord,
    names,
};
use crate::backends::node_source;
use crate::index::Owner;

/// What a record has besides its spec.
#[derive(Debug)]
pub(crate) struct RecordDetails {
    pub(crate) labels: Vec<(&'static str, String)>,
    /// The value of [`names::ANNOTATION_SOURCE`].
    pub(crate) source: Option<String>,
}

impl BackendOfService<'_> {
    /// The name of its record. The names of different owners never collide (d77).
    pub(crate) fn record_name(&self, owner: &Owner, lb: &str) -> String {
        match self {
            Self::Node {
                service,
                port,
                node,
            } => {
                let (name, node) = (&owner.key().name, &node.key.name);
                let (port, protocol) = (port.port.0, port.port.1.as_str());
                match owner {
                    Owner::Group(_) => {
                        names::service_record_name(lb, name, service, port, protocol, node)
                    }
                    Owner::Bind(_) => {
                        names::bind_service_record_name(name, lb, service, port, protocol, node)
                    }
                }
            }
            Self::Endpoint { service, endpoint } => {
                let target = endpoint.found.endpoint.pod.as_ref();
                let target = target.map_or("", |pod| &*pod.uid);
                endpoint_record_name(owner, lb, &endpoint_of(service, endpoint), target)
            }
        }
    }

    /// Adds the backend to the spec of its record; `pod_label` is the label with the name of a pod.
    pub(crate) fn describe(
        &self,
        pod_label: &'static str,
        spec: &mut BackendRecordSpec,
    ) -> RecordDetails {
        let (Self::Node { service, .. } | Self::Endpoint { service, .. }) = self;
        let mut labels = vec![(names::LABEL_BACKEND_SERVICE, names::label_value(service))];
        let source = match self {
            Self::Node { port, node, .. } => {
                spec.service_backend = Some(ServiceBackendRecord {
                    name: (*service).to_owned(),
                    port: PortSelector::new(port.port.0, port.port.1),
                    node_port: port.node_port,
                    node_name: node.key.name.to_string(),
                });
                Some(node_source(node))
            }
            Self::Endpoint { endpoint, .. } => {
                let backend = endpoint_of(service, endpoint);
                if let Some(pod) = &endpoint.found.endpoint.pod {
                    spec.pod_backend = Some(PodBackendRecord {
                        name: pod.name.to_string(),
                        port: backend.port.clone(),
                    });
                    labels.push((pod_label, names::label_value(&pod.name)));
                }
                spec.endpoint_backend = Some(backend);
                None
            }
        };
        RecordDetails { labels, source }
    }
}

fn endpoint_of(service: &str, endpoint: &EndpointPort) -> EndpointBackendRecord {
    let EndpointPort { found, port, .. } = endpoint;
    EndpointBackendRecord {
        service: service.to_owned(),
        address: found.endpoint.address.to_string(),
        address_type: found.slice.family,
        port: PortSelector::new(port.0, port.1),
    }
}

/// The name of the record for an endpoint whose pod, if it is one, has the uid `target`.
pub(crate) fn endpoint_record_name(
    owner: &Owner,
    lb: &str,
    backend: &EndpointBackendRecord,
    target: &str,
) -> String {
    let (name, port) = (&owner.key().name, &backend.port);
    let (service, address) = (&backend.service, &backend.address);
    let (number, protocol) = (port.number(), port.protocol());
    let protocol = protocol.as_str();
    match owner {
        Owner::Group(_) => {
            names::endpoint_record_name(lb, name, service, target, address, number, protocol)
        }
        Owner::Bind(_) => {
            names::bind_endpoint_record_name(name, lb, service, target, address, number, protocol)
        }
    }
}
