//! Backends of the types that the driver supports, not registered yet: generated pods and services. No
//! two in a run are the same.

use super::Lab;
use crate::call::{Backend, LoadBalancer, Source};
use crate::classification::Feature;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Map, Value, json};

impl Lab {
    /// A pod as a backend, without an address.
    pub(crate) fn pod_backend(&self, lb: &LoadBalancer) -> Backend {
        let (n, uid, name) = self.named();
        let template = self.run.fixture.backend.pod_template.as_ref();
        let source = pod(template, &name, &uid, &self.addresses().pod(n));
        self.backend_of(lb, source)
    }

    /// A service's node port as a backend, without an address.
    pub(crate) fn service_backend(&self, lb: &LoadBalancer) -> Backend {
        let (n, uid, name) = self.named();
        self.backend_of(lb, self.addresses().service(&name, &uid, n))
    }

    /// An endpoint of a service that is no pod, without an address.
    pub(crate) fn endpoint_backend(&self, lb: &LoadBalancer) -> Backend {
        let n = self.next();
        self.backend_of(lb, self.addresses().endpoint(n))
    }

    /// One backend of each type whose address the driver generates.
    pub(crate) fn generated_backends(&self, lb: &LoadBalancer) -> Vec<Backend> {
        let mut backends = Vec::new();
        if self.has(Feature::PodBackends) {
            backends.push(self.pod_backend(lb));
        }
        if self.has(Feature::ServiceBackends) {
            backends.push(self.service_backend(lb));
        }
        backends
    }

    /// A backend without an address: a pod, or another type that the driver supports.
    pub(crate) fn backend(&self, lb: &LoadBalancer) -> Backend {
        if self.has(Feature::PodBackends) {
            self.pod_backend(lb)
        } else if self.has(Feature::ServiceBackends) {
            self.service_backend(lb)
        } else {
            self.backend_of(lb, Source::Static)
        }
    }

    /// A backend with an address that is not registered, for calls about unknown backends.
    pub(crate) fn unknown_backend(&self, lb: &LoadBalancer) -> Backend {
        Backend {
            addr: self.run.fixture.backend.unknown_addr.clone(),
            ..self.backend(lb)
        }
    }

    /// A backend from this source, without an address.
    pub(crate) fn backend_of(&self, lb: &LoadBalancer, source: Source) -> Backend {
        let parameters = self.run.fixture.backend.parameters.valid.first();
        let mut backend = Backend {
            uid: self.uid(),
            source,
            lb_info: lb.lb_info.clone(),
            lb_attributes: lb.sample.attributes.clone(),
            addr: String::new(),
            parameters: parameters.map(|map| self.filled(map)).unwrap_or_default(),
            injected_info: StringMap::new(),
        };
        if backend.source == Source::Static {
            let addresses = &self.run.fixture.backend.static_addrs;
            let n = self.next();
            let index = usize::try_from(n).unwrap_or_default();
            backend.addr = match addresses.len() {
                0 => self.addresses().fixed(n),
                count => addresses[index % count].clone(),
            };
        }
        backend
    }

    /// The addresses of this check's backends.
    pub(crate) const fn addresses(&self) -> Addresses {
        Addresses { check: self.index }
    }

    pub(crate) fn has_backends(&self) -> bool {
        !self.backend_types().is_empty()
    }

    /// True if the driver generates addresses, which it does not for static backends.
    pub(crate) fn generates_addresses(&self) -> bool {
        self.has(Feature::PodBackends) || self.has(Feature::ServiceBackends)
    }

    /// The values of `backendType` that the features of the fixture include.
    pub(crate) fn backend_types(&self) -> Vec<&'static str> {
        [
            (Feature::PodBackends, "Pod"),
            (Feature::ServiceBackends, "Service"),
            (Feature::StaticBackends, "Static"),
        ]
        .into_iter()
        .filter_map(|(feature, name)| self.has(feature).then_some(name))
        .collect()
    }

    /// A number, a uid and a name for an object in Kubernetes.
    fn named(&self) -> (u32, String, String) {
        let n = self.next();
        let name = format!("{}-{n}", self.check.to_ascii_lowercase());
        (n, self.uid(), name)
    }
}

/// The addresses of generated pods and nodes: each check has its own range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    /// The index of the check.
    pub(crate) check: u8,
}

impl Addresses {
    pub(crate) const POD_PORT: i32 = 8080;

    /// The IP of the check's `n`th pod, up to 50,000.
    pub(crate) fn pod(self, n: u32) -> String {
        let check = 100 + u32::from(self.check % 150);
        format!("10.{check}.{}.{}", n / 200 % 250, n % 200 + 1)
    }

    fn node(self, n: u32) -> String {
        let check = u32::from(self.check);
        let (second, third) = (16 + check % 16, check / 16 * 20 + n / 200 % 20);
        format!("172.{second}.{third}.{}", n % 200 + 1)
    }

    pub(crate) fn fixed(self, n: u32) -> String {
        format!("{}:{}", self.node(n), Self::POD_PORT)
    }

    /// The check's `n`th endpoint, an address outside of the cluster.
    pub(crate) fn endpoint(self, n: u32) -> Source {
        Source::Endpoint(json!({
            "address": self.node(n), "port": Self::POD_PORT, "protocol": "TCP", "addressType": "IPv4",
            "zone": "zone-a", "serving": true, "terminating": false,
            "service": {
                "namespace": "lbcf-conformance", "name": "outside", "portName": "",
                "port": port(80),
            },
        }))
    }

    /// The check's `n`th service backend.
    pub(crate) fn service(self, name: &str, uid: &str, n: u32) -> Source {
        let (node, node_port) = (format!("node-{n}"), 30_000 + n % 2_000);
        let service = json!({
            "metadata": {"name": name, "namespace": "lbcf-conformance", "uid": uid},
            "spec": {
                "type": "NodePort",
                "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080, "nodePort": node_port}],
            },
        });
        Source::Service(json!({
            "service": service,
            "port": port(80),
            "nodeName": node,
            "nodeAddresses": [
                {"type": "InternalIP", "address": self.node(n)},
                {"type": "Hostname", "address": node},
            ],
        }))
    }
}

/// A running and ready pod with its port, based on the template if there is one.
pub(crate) fn pod(
    template: Option<&Map<String, Value>>,
    name: &str,
    uid: &str,
    ip: &str,
) -> Source {
    let default = || {
        let port = json!({"containerPort": Addresses::POD_PORT, "protocol": "TCP"});
        let container = json!({"name": "main", "image": "registry.invalid/app:1", "ports": [port]});
        json!({"spec": {"nodeName": "node-1", "containers": [container]}})
    };
    let mut pod = template.cloned().map_or_else(default, Value::Object);
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["uid"] = json!(uid);
    let namespace = &mut pod["metadata"]["namespace"];
    if namespace.is_null() {
        *namespace = json!("lbcf-conformance");
    }
    pod["status"]["phase"] = json!("Running");
    pod["status"]["podIP"] = json!(ip);
    pod["status"]["podIPs"] = json!([{"ip": ip}]);
    pod["status"]["hostIP"] = json!("192.0.2.1");
    pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    Source::Pod(json!({"pod": pod, "port": port(Addresses::POD_PORT)}))
}

/// A port under both its names.
fn port(number: i32) -> Value {
    json!({"port": number, "portNumber": number, "protocol": "TCP"})
}
