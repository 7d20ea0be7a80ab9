//! Builders of pods, services and endpoints.

use crate::webhook::{
    AddressType, BackendPort, EndpointBackend, EndpointService, PodBackend, Protocol,
    ServiceBackend,
};
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, NodeAddress, Pod, PodCondition, PodIP, PodSpec, PodStatus, Service,
    ServicePort, ServiceSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// A running and ready pod in the namespace `default`, with a uid and an address derived from its name.
/// The backend's port is the last [port](PodBuilder::port) that was added, or TCP 80.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use lbcf_driver_sdk::testing::pod;
///
/// let web: Pod = pod("web-0").ip("10.0.0.7").port(80).label("app", "web").into();
/// assert_eq!(web.status.unwrap().pod_ip.as_deref(), Some("10.0.0.7"));
/// ```
#[must_use]
pub fn pod(name: impl Into<String>) -> PodBuilder {
    let name = name.into();
    let [.., b, c, d] = derived_from(&name).to_be_bytes();
    let pod = Pod {
        spec: Some(PodSpec {
            node_name: Some("node-1".into()),
            containers: vec![Container {
                name: "main".into(),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
        status: Some(PodStatus {
            host_ip: Some("192.0.2.1".into()),
            ..PodStatus::default()
        }),
        metadata: metadata(name),
    };
    let port = BackendPort {
        port: 80,
        protocol: Protocol::Tcp,
    };
    PodBuilder { pod, port }
        .ip(format!("10.{b}.{c}.{d}"))
        .phase("Running")
        .ready(true)
}

/// A service of the type NodePort in the namespace `default`, without ports, on the node `node-1` with
/// the internal address 192.0.2.1.
///
/// ```
/// use lbcf_driver_sdk::testing::{generate_backend_addr, service};
///
/// let call = generate_backend_addr().service(
///     service("web").node_port(80, 30080).on_node("node-7").node_address("InternalIP", "10.0.0.7"),
/// );
/// assert_eq!(call.request().service_backend.as_ref().unwrap().node_name, "node-7");
/// ```
#[must_use]
pub fn service(name: impl Into<String>) -> ServiceBuilder {
    let service = Service {
        metadata: metadata(name.into()),
        spec: Some(ServiceSpec {
            type_: Some("NodePort".into()),
            ..ServiceSpec::default()
        }),
        status: None,
    };
    ServiceBuilder(ServiceBackend {
        service,
        port: BackendPort::default(),
        node_name: "node-1".into(),
        node_addresses: vec![node_address("InternalIP", "192.0.2.1")],
    })
}

/// An endpoint of the service `default/web` with this address, TCP port 80, which serves. Its type follows
/// from the address; other fields can be set by their names.
///
/// ```
/// use lbcf_driver_sdk::testing::{endpoint, generate_backend_addr};
/// use lbcf_driver_sdk::webhook::{AddressType, EndpointBackend};
///
/// let database = EndpointBackend { port: 5432, ..endpoint("db.example.com") };
/// assert_eq!(database.address_type, AddressType::FQDN);
/// let call = generate_backend_addr().endpoint(database);
/// # let _ = call;
/// ```
#[must_use]
pub fn endpoint(address: impl Into<String>) -> EndpointBackend {
    let address = address.into();
    let port = BackendPort {
        port: 80,
        protocol: Protocol::Tcp,
    };
    EndpointBackend {
        address_type: match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => AddressType::IPv4,
            Ok(IpAddr::V6(_)) => AddressType::IPv6,
            Err(_) => AddressType::FQDN,
        },
        address,
        port: port.port,
        protocol: port.protocol,
        serving: true,
        service: EndpointService {
            namespace: "default".into(),
            name: "web".into(),
            port,
            port_name: String::new(),
        },
        ..EndpointBackend::default()
    }
}

/// Builds a pod, starting from [`pod`].
#[derive(Debug, Clone)]
pub struct PodBuilder {
    pod: Pod,
    port: BackendPort,
}

/// Builds a service's node port, starting from [`service`].
#[derive(Debug, Clone)]
pub struct ServiceBuilder(ServiceBackend);

impl PodBuilder {
    /// Sets the namespace (default `default`).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.pod.metadata.namespace = Some(namespace.into());
        self
    }

    /// Sets the uid (default derived from the name).
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.pod.metadata.uid = Some(uid.into());
        self
    }

    /// Sets the pod's address (default derived from the name).
    #[must_use]
    pub fn ip(mut self, ip: impl Into<String>) -> Self {
        let ip = ip.into();
        let status = self.status();
        status.pod_ips = Some(vec![PodIP { ip: ip.clone() }]);
        status.pod_ip = Some(ip);
        self
    }

    /// Removes the address, as before a pod is scheduled.
    #[must_use]
    pub fn without_ip(mut self) -> Self {
        let status = self.status();
        status.pod_ip = None;
        status.pod_ips = None;
        self
    }

    /// Adds a TCP port to the container; it becomes the backend's port.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        self.protocol_port(Protocol::Tcp, port)
    }

    /// Adds a port to the container; it becomes the backend's port.
    #[must_use]
    pub fn protocol_port(mut self, protocol: Protocol, port: u16) -> Self {
        let port = i32::from(port);
        self.port = BackendPort { port, protocol };
        let containers = self.pod.spec.iter_mut().flat_map(|s| &mut s.containers);
        for container in containers {
            container.ports.get_or_insert_default().push(ContainerPort {
                container_port: port,
                protocol: Some(protocol.as_str().into()),
                ..ContainerPort::default()
            });
        }
        self
    }

    /// Adds a label to the pod's metadata.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let labels = self.pod.metadata.labels.get_or_insert_default();
        labels.insert(key.into(), value.into());
        self
    }

    /// Adds an annotation to the pod's metadata.
    #[must_use]
    pub fn annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let annotations = self.pod.metadata.annotations.get_or_insert_default();
        annotations.insert(key.into(), value.into());
        self
    }

    /// Sets the node's name and address (default `node-1`, 192.0.2.1).
    #[must_use]
    pub fn on_node(mut self, name: impl Into<String>, host_ip: impl Into<String>) -> Self {
        self.pod.spec.get_or_insert_default().node_name = Some(name.into());
        self.status().host_ip = Some(host_ip.into());
        self
    }

    /// Sets the phase, such as `Pending` (default `Running`).
    #[must_use]
    pub fn phase(mut self, phase: impl Into<String>) -> Self {
        self.status().phase = Some(phase.into());
        self
    }

    /// Sets the `Ready` condition (default true).
    #[must_use]
    pub fn ready(mut self, ready: bool) -> Self {
        self.status().conditions = Some(vec![PodCondition {
            type_: "Ready".into(),
            status: if ready { "True" } else { "False" }.into(),
            ..PodCondition::default()
        }]);
        self
    }

    /// Sets the deletion timestamp.
    #[must_use]
    pub fn deleting(mut self) -> Self {
        let since = k8s_openapi::jiff::Timestamp::UNIX_EPOCH;
        self.pod.metadata.deletion_timestamp = Some(Time(since));
        self
    }

    fn status(&mut self) -> &mut PodStatus {
        self.pod.status.get_or_insert_default()
    }
}

impl ServiceBuilder {
    /// Sets the namespace (default `default`).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.0.service.metadata.namespace = Some(namespace.into());
        self
    }

    /// Adds a TCP port with its node port; it becomes the backend's port.
    #[must_use]
    pub fn node_port(self, port: u16, node_port: u16) -> Self {
        self.protocol_node_port(Protocol::Tcp, port, node_port)
    }

    /// Adds a port with its node port; it becomes the backend's port.
    #[must_use]
    pub fn protocol_node_port(mut self, protocol: Protocol, port: u16, node_port: u16) -> Self {
        let port = i32::from(port);
        self.0.port = BackendPort { port, protocol };
        let spec = self.0.service.spec.get_or_insert_default();
        spec.ports.get_or_insert_default().push(ServicePort {
            port,
            node_port: Some(node_port.into()),
            protocol: Some(protocol.as_str().into()),
            ..ServicePort::default()
        });
        self
    }

    /// Sets the node, without addresses; see [`node_address`](Self::node_address).
    #[must_use]
    pub fn on_node(mut self, name: impl Into<String>) -> Self {
        self.0.node_name = name.into();
        self.0.node_addresses.clear();
        self
    }

    /// Adds an address of the node, with its kind, such as `InternalIP`.
    #[must_use]
    pub fn node_address(mut self, kind: impl Into<String>, address: impl Into<String>) -> Self {
        self.0.node_addresses.push(node_address(kind, address));
        self
    }
}

impl From<PodBuilder> for Pod {
    fn from(builder: PodBuilder) -> Self {
        builder.pod
    }
}

impl From<PodBuilder> for PodBackend {
    fn from(PodBuilder { pod, port }: PodBuilder) -> Self {
        Self { pod, port }
    }
}

impl From<ServiceBuilder> for ServiceBackend {
    fn from(builder: ServiceBuilder) -> Self {
        builder.0
    }
}

impl From<ServiceBuilder> for Service {
    fn from(builder: ServiceBuilder) -> Self {
        builder.0.service
    }
}

fn metadata(name: String) -> ObjectMeta {
    ObjectMeta {
        namespace: Some("default".into()),
        uid: Some(format!(
            "00000000-0000-4000-8000-{:012x}",
            derived_from(&name)
        )),
        name: Some(name),
        ..ObjectMeta::default()
    }
}

fn node_address(kind: impl Into<String>, address: impl Into<String>) -> NodeAddress {
    NodeAddress {
        type_: kind.into(),
        address: address.into(),
    }
}

/// 24 bits derived from a name, the same in every run.
fn derived_from(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    // Zero would not be an address of a pod.
    u32::try_from(hasher.finish() % 0x00ff_fffe + 1).unwrap_or(1)
}
