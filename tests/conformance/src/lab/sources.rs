//! Generated pods and services. No two in a run are the same.

use crate::call::Source;
use serde_json::{Map, Value, json};

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
        format!(
            "172.{}.{}.{}",
            16 + check % 16,
            check / 16 * 20 + n / 200 % 20,
            n % 200 + 1
        )
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
        let node_port = 30_000 + i32::try_from(n % 2_000).unwrap_or_default();
        service(name, uid, &format!("node-{n}"), &self.node(n), node_port)
    }
}

/// A running and ready pod with its port, based on the template if there is one.
pub(crate) fn pod(
    template: Option<&Map<String, Value>>,
    name: &str,
    uid: &str,
    ip: &str,
) -> Source {
    let mut pod = template.cloned().unwrap_or_else(|| {
        let port = json!({"containerPort": Addresses::POD_PORT, "protocol": "TCP"});
        let container = json!({"name": "main", "image": "registry.invalid/app:1", "ports": [port]});
        let spec = json!({"nodeName": "node-1", "containers": [container]});
        Map::from_iter([("spec".to_owned(), spec)])
    });
    set(&mut pod, "metadata", "name", name);
    set(&mut pod, "metadata", "uid", uid);
    if pod["metadata"].get("namespace").is_none() {
        set(&mut pod, "metadata", "namespace", "lbcf-conformance");
    }
    set(&mut pod, "status", "phase", "Running");
    set(&mut pod, "status", "podIP", ip);
    set(&mut pod, "status", "podIPs", json!([{"ip": ip}]));
    set(&mut pod, "status", "hostIP", "192.0.2.1");
    let ready = json!([{"type": "Ready", "status": "True"}]);
    set(&mut pod, "status", "conditions", ready);
    Source::Pod(json!({"pod": pod, "port": port(Addresses::POD_PORT)}))
}

/// A service of the type NodePort on a node.
fn service(name: &str, uid: &str, node: &str, node_ip: &str, node_port: i32) -> Source {
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
            {"type": "InternalIP", "address": node_ip},
            {"type": "Hostname", "address": node},
        ],
    }))
}

/// A port under both its names.
fn port(number: i32) -> Value {
    json!({"port": number, "portNumber": number, "protocol": "TCP"})
}

fn set(object: &mut Map<String, Value>, section: &str, field: &str, value: impl Into<Value>) {
    let section = object
        .entry(section)
        .or_insert_with(|| Value::Object(Map::new()));
    if !section.is_object() {
        *section = Value::Object(Map::new());
    }
    if let Value::Object(section) = section {
        section.insert(field.to_owned(), value.into());
    }
}
