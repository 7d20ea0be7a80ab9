//! One backend of an owner, and its record at a load balancer: one for each pod's port, node,
//! endpoint or address.

use super::service::{EndpointPort, NodePort};
use crate::api::{
    BackendOwner, BackendRecord, BackendRecordSpec, EndpointBackendRecord, PodBackendRecord,
    PortSelector, ServiceBackendRecord, names,
};
use crate::index::{NodeView, Owner, PodView, UsableLoadBalancer};
use kube::ResourceExt;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(crate) enum Backend<'a> {
    Pod {
        pod: &'a PodView,
        /// As [`pod_port`](super::pods::pod_port) gives it.
        port: (i32, String),
    },
    Node {
        service: &'a str,
        port: NodePort,
        node: &'a NodeView,
    },
    Endpoint {
        service: &'a str,
        endpoint: EndpointPort,
    },
    /// An address in the spec.
    Static(&'a str),
}

/// The labels of an owner's records.
struct Labels {
    driver: &'static str,
    load_balancer: &'static str,
    owner: &'static str,
    pod: &'static str,
}

impl Labels {
    const fn of(owner: &Owner) -> Self {
        match owner {
            Owner::Group(_) => Self {
                driver: names::LABEL_LB_DRIVER,
                load_balancer: names::LABEL_LB_NAME,
                owner: names::LABEL_BACKEND_GROUP,
                pod: names::LABEL_BACKEND_POD,
            },
            Owner::Bind(_) => Self {
                driver: names::LABEL_BIND_DRIVER,
                load_balancer: names::LABEL_BIND_LB,
                owner: names::LABEL_BIND,
                pod: names::LABEL_BIND_POD,
            },
        }
    }
}

impl Backend<'_> {
    /// The names that its record may have; the first unless another record has it, which is another owner's or is
    /// being deleted.
    pub(crate) fn record_names(&self, owner: &Owner, lb: &str) -> [String; 2] {
        let name = &owner.key().name;
        let first = match self {
            Self::Pod { pod, port } => match owner {
                Owner::Group(_) => names::pod_record_name(lb, name, &pod.uid, port.0, &port.1),
                Owner::Bind(_) => {
                    let (pod, ip) = (&pod.key.name, &pod.ip);
                    return names::bind_record_names(name, lb, pod, ip, &port.1, port.0);
                }
            },
            Self::Node {
                service,
                port,
                node,
            } => {
                let port = (port.port.0, port.port.1.as_str());
                let owner = owner.name();
                owner.service_record(lb, service, port, &node.key.name)
            }
            Self::Endpoint { service, endpoint } => {
                let target = endpoint.found.endpoint.pod.as_ref();
                let target = target.map_or("", |pod| &*pod.uid);
                let backend = endpoint_of(service, endpoint);
                endpoint_record_name(owner, lb, &backend, target)
            }
            Self::Static(addr) => names::static_record_name(lb, name, addr),
        };
        let other = names::other_name(&first);
        [first, other]
    }

    /// A new record in its owner's namespace. It has its finalizer from the beginning, so that it
    /// cannot be deleted before its backend is deregistered.
    pub(super) fn record(
        &self,
        owner: &Owner,
        object: &dyn BackendOwner,
        name: String,
        (lb_name, lb): (&str, &UsableLoadBalancer),
    ) -> BackendRecord {
        let mut spec = BackendRecordSpec {
            lb_driver: lb.driver.clone(),
            lb_name: lb_name.to_owned(),
            lb_info: lb.lb_info.clone(),
            lb_attributes: lb.attributes.clone(),
            parameters: object.parameters().clone(),
            ensure_policy: object.ensure_policy(),
            ..BackendRecordSpec::default()
        };
        let keys = Labels::of(owner);
        let mut labels = vec![
            (keys.driver, names::label_value(&lb.driver)),
            (keys.load_balancer, names::label_value(lb_name)),
            (keys.owner, names::label_value(&owner.key().name)),
        ];
        let source = self.describe(keys.pod, &mut spec, &mut labels);
        let labels = labels.into_iter();
        let source = source.map(|source| (names::ANNOTATION_SOURCE.to_owned(), source));
        let mut record = BackendRecord::new(&name, spec);
        record.metadata = ObjectMeta {
            name: Some(name),
            namespace: Some(owner.key().namespace.to_string()),
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value)).collect()),
            annotations: source.map(|source| BTreeMap::from([source])),
            finalizers: Some(vec![names::FINALIZER_BACKEND_RECORD.to_owned()]),
            owner_references: object.owner_reference().map(|owner| vec![owner]),
            ..ObjectMeta::default()
        };
        record
    }

    /// Adds the backend to the spec and the labels of its record; returns the value of
    /// [`names::ANNOTATION_SOURCE`].
    fn describe(
        &self,
        pod_label: &'static str,
        spec: &mut BackendRecordSpec,
        labels: &mut Vec<(&'static str, String)>,
    ) -> Option<String> {
        match self {
            Self::Pod { pod, port } => {
                spec.pod_backend = Some(PodBackendRecord {
                    name: pod.key.name.to_string(),
                    port: PortSelector {
                        port: Some(port.0),
                        port_number: None,
                        protocol: Some(port.1.clone()),
                    },
                });
                labels.push((pod_label, names::label_value(&pod.key.name)));
                Some(pod.ip.clone())
            }
            Self::Node {
                service,
                port,
                node,
            } => {
                spec.service_backend = Some(ServiceBackendRecord {
                    name: (*service).to_owned(),
                    port: PortSelector::new(port.port.0, port.port.1),
                    node_port: port.node_port,
                    node_name: node.key.name.to_string(),
                });
                labels.push((names::LABEL_BACKEND_SERVICE, names::label_value(service)));
                Some(node_source(node))
            }
            Self::Endpoint { service, endpoint } => {
                let backend = endpoint_of(service, endpoint);
                labels.push((names::LABEL_BACKEND_SERVICE, names::label_value(service)));
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
            Self::Static(addr) => {
                spec.static_addr = Some((*addr).to_owned());
                let value = names::address_label(addr);
                labels.push((names::LABEL_BACKEND_STATIC_ADDR, value));
                None
            }
        }
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
    let port = (backend.port.number(), backend.port.protocol().as_str());
    let (service, address, owner) = (&backend.service, &backend.address, owner.name());
    owner.endpoint_record(lb, service, target, address, port)
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

/// The address of the pod or node that a record's address was generated from; none for records of the original controller.
pub(crate) fn source_of(record: &BackendRecord) -> Option<&String> {
    record.annotations().get(names::ANNOTATION_SOURCE)
}
