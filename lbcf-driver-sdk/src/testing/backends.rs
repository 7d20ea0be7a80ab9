//! Builders of pods, services and endpoints.

use crate::webhook::{
    AddressType, BackendPort, EndpointBackend, EndpointService, KubernetesObject, NodeAddress,
    PodBackend, Protocol, ServiceBackend,
};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// A running and ready pod in the namespace `default`, with a uid and an address derived from its name.
/// The backend's port is the last [port](PodBuilder::port) that was added, or TCP 80.
///
/// ```
/// use lbcf_driver_sdk::testing::pod;
/// use lbcf_driver_sdk::webhook::KubernetesObject;
///
/// let web: KubernetesObject = pod("web-0").ip("10.0.0.7").port(80).label("app", "web").into();
/// assert_eq!(web.ips, ["10.0.0.7"]);
/// ```
#[must_use]
pub fn pod(name: impl Into<String>) -> PodBuilder {
    let name = name.into();
    let [.., b, c, d] = derived_from(&name).to_be_bytes();
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(&name),
        "spec": {"containers": [{"name": "main", "ports": []}]},
    });
    let port = BackendPort {
        port: 80,
        protocol: Protocol::Tcp,
    };
    PodBuilder { pod, port }
        .ip(format!("10.{b}.{c}.{d}"))
        .on_node("node-1", "192.0.2.1")
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
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(&name.into()),
        "spec": {"type": "NodePort", "ports": []},
    });
    let port = BackendPort::default();
    ServiceBuilder {
        service,
        port,
        node_name: String::new(),
        node_addresses: Vec::new(),
    }
    .on_node("node-1")
    .node_address("InternalIP", "192.0.2.1")
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
    pod: Value,
    port: BackendPort,
}

/// Builds a service's node port, starting from [`service`].
#[derive(Debug, Clone)]
pub struct ServiceBuilder {
    service: Value,
    port: BackendPort,
    node_name: String,
    node_addresses: Vec<NodeAddress>,
}

impl PodBuilder {
    /// Sets the namespace (default `default`).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.pod["metadata"]["namespace"] = namespace.into().into();
        self
    }

    /// Sets the uid (default derived from the name).
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.pod["metadata"]["uid"] = uid.into().into();
        self
    }

    /// Sets the pod's address (default derived from the name).
    #[must_use]
    pub fn ip(mut self, ip: impl Into<String>) -> Self {
        let ip = ip.into();
        self.pod["status"]["podIPs"] = json!([{"ip": ip}]);
        self.pod["status"]["podIP"] = ip.into();
        self
    }

    /// Removes the address, as before a pod is scheduled.
    #[must_use]
    pub fn without_ip(mut self) -> Self {
        self.pod["status"]["podIPs"] = Value::Null;
        self.pod["status"]["podIP"] = Value::Null;
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
        let added = json!({"containerPort": port, "protocol": protocol});
        push(&mut self.pod["spec"]["containers"][0]["ports"], added);
        let port = port.into();
        self.port = BackendPort { port, protocol };
        self
    }

    /// Adds a label to the pod's metadata.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.pod["metadata"]["labels"][key.into()] = value.into().into();
        self
    }

    /// Adds an annotation to the pod's metadata.
    #[must_use]
    pub fn annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.pod["metadata"]["annotations"][key.into()] = value.into().into();
        self
    }

    /// Sets the node's name and address (default `node-1`, 192.0.2.1).
    #[must_use]
    pub fn on_node(mut self, name: impl Into<String>, host_ip: impl Into<String>) -> Self {
        self.pod["spec"]["nodeName"] = name.into().into();
        self.pod["status"]["hostIP"] = host_ip.into().into();
        self
    }

    /// Sets the phase, such as `Pending` (default `Running`).
    #[must_use]
    pub fn phase(mut self, phase: impl Into<String>) -> Self {
        self.pod["status"]["phase"] = phase.into().into();
        self
    }

    /// Sets the `Ready` condition (default true).
    #[must_use]
    pub fn ready(mut self, ready: bool) -> Self {
        let status = if ready { "True" } else { "False" };
        self.pod["status"]["conditions"] = json!([{"type": "Ready", "status": status}]);
        self
    }

    /// Sets the deletion timestamp.
    #[must_use]
    pub fn deleting(mut self) -> Self {
        self.pod["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:00Z".into();
        self
    }
}

impl ServiceBuilder {
    /// Sets the namespace (default `default`).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.service["metadata"]["namespace"] = namespace.into().into();
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
        let added = json!({"port": port, "nodePort": node_port, "protocol": protocol});
        push(&mut self.service["spec"]["ports"], added);
        let port = port.into();
        self.port = BackendPort { port, protocol };
        self
    }

    /// Sets the node, without addresses; see [`node_address`](Self::node_address).
    #[must_use]
    pub fn on_node(mut self, name: impl Into<String>) -> Self {
        self.node_name = name.into();
        self.node_addresses.clear();
        self
    }

    /// Adds an address of the node, with its kind, such as `InternalIP`.
    #[must_use]
    pub fn node_address(mut self, kind: impl Into<String>, address: impl Into<String>) -> Self {
        self.node_addresses.push(NodeAddress {
            kind: kind.into(),
            address: address.into(),
        });
        self
    }
}

impl From<PodBuilder> for KubernetesObject {
    fn from(builder: PodBuilder) -> Self {
        object(&builder.pod)
    }
}

impl From<PodBuilder> for PodBackend {
    fn from(PodBuilder { pod, port }: PodBuilder) -> Self {
        let pod = object(&pod);
        Self { pod, port }
    }
}

impl From<ServiceBuilder> for ServiceBackend {
    fn from(builder: ServiceBuilder) -> Self {
        Self {
            service: object(&builder.service),
            port: builder.port,
            node_name: builder.node_name,
            node_addresses: builder.node_addresses,
        }
    }
}

fn object(json: &Value) -> KubernetesObject {
    match KubernetesObject::of(json) {
        Ok(object) => object,
        Err(error) => panic!("{json}: {error}"),
    }
}

fn push(list: &mut Value, item: Value) {
    if let Value::Array(items) = list {
        items.push(item);
    }
}

fn metadata(name: &str) -> Value {
    let uid = format!("00000000-0000-4000-8000-{:012x}", derived_from(name));
    json!({"namespace": "default", "uid": uid, "name": name})
}

/// 24 bits derived from a name, the same in every run.
fn derived_from(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    // Zero would not be an address of a pod.
    u32::try_from(hasher.finish() % 0x00ff_fffe + 1).unwrap_or(1)
}
