//! Which endpoints a service has, read off its pods.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::object::{Object, at, condition, is_deleting, meta, name, namespace, text, uid};

/// The endpoints that share a family of addresses and resolved ports, and so can share slices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) ports: Vec<Value>,
    pub(super) endpoints: Vec<Value>,
}

/// Whether slices are made for a service. Others are left to whoever makes theirs.
pub(super) fn is_served(service: &Object) -> bool {
    let selector = at(service, &["spec", "selector"]).and_then(Value::as_object);
    selector.is_some_and(|selector| !selector.is_empty())
        && text(service, &["spec", "type"]) != Some("ExternalName")
        && !is_deleting(service)
}

/// The families of addresses that a service has slices for.
pub(super) fn families(service: &Object) -> Vec<&str> {
    let families: Vec<&str> = at(service, &["spec", "ipFamilies"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|family| matches!(*family, "IPv4" | "IPv6"))
        .collect();
    if families.is_empty() {
        return vec!["IPv4"];
    }
    families
}

/// The endpoints of one family, by the ports that their pods give the service's.
///
/// `zone_of` tells where a node is.
pub(super) fn groups<'a>(
    service: &Object,
    family: &str,
    pods: impl IntoIterator<Item = &'a Object>,
    zone_of: impl Fn(&str) -> Option<String>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for pod in pods {
        let Some(endpoint) = endpoint(service, family, pod, &zone_of) else {
            continue;
        };
        let ports = ports(service, pod);
        match groups.iter_mut().find(|group| group.ports == ports) {
            Some(group) => group.endpoints.push(endpoint),
            None => groups.push(Group {
                ports,
                endpoints: vec![endpoint],
            }),
        }
    }
    groups
}

/// What of a pod endpoints are made of: what else changes does not concern them.
pub(super) fn facet(pod: &Object) -> Value {
    json!([
        at(pod, &["metadata", "labels"]),
        is_deleting(pod),
        at(pod, &["spec", "nodeName"]),
        at(pod, &["status", "phase"]),
        at(pod, &["status", "podIP"]),
        at(pod, &["status", "podIPs"]),
        is_ready(pod),
    ])
}

fn is_ready(pod: &Object) -> bool {
    condition(pod, "Ready").and_then(|c| c.get("status")?.as_str()) == Some("True")
}

fn endpoint(
    service: &Object,
    family: &str,
    pod: &Object,
    zone_of: &impl Fn(&str) -> Option<String>,
) -> Option<Value> {
    if matches!(
        text(pod, &["status", "phase"]),
        Some("Succeeded" | "Failed")
    ) {
        return None;
    }
    let addresses = addresses(pod, family);
    if addresses.is_empty() {
        return None;
    }
    let (serving, terminating) = (is_ready(pod), is_deleting(pod));
    let unready_too = at(service, &["spec", "publishNotReadyAddresses"]) == Some(&json!(true));
    let mut endpoint = json!({
        "addresses": addresses,
        "conditions": {
            "ready": unready_too || (serving && !terminating),
            "serving": serving,
            "terminating": terminating,
        },
        "targetRef": {
            "kind": "Pod", "namespace": namespace(pod), "name": name(pod), "uid": uid(pod),
        },
    });
    if let Some(hostname) = text(pod, &["spec", "hostname"])
        && !hostname.is_empty()
        && text(pod, &["spec", "subdomain"]) == Some(name(service))
        && namespace(pod) == namespace(service)
    {
        endpoint["hostname"] = Value::from(hostname);
    }
    if let Some(node) = text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty()) {
        endpoint["nodeName"] = Value::from(node);
        if let Some(zone) = zone_of(node) {
            endpoint["zone"] = Value::from(zone);
        }
    }
    Some(endpoint)
}

fn addresses(pod: &Object, family: &str) -> Vec<String> {
    let listed = at(pod, &["status", "podIPs"]).and_then(Value::as_array);
    let mut given: Vec<&str> = listed
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("ip")?.as_str())
        .collect();
    // Whoever writes a status by hand writes the one and forgets the other.
    if given.is_empty() {
        given.extend(text(pod, &["status", "podIP"]));
    }
    given
        .into_iter()
        .filter_map(|ip| ip.parse::<IpAddr>().ok())
        .filter(|ip| ip.is_ipv6() == (family == "IPv6"))
        .map(|ip| ip.to_string())
        .collect()
}

/// The service's ports as this pod has them; one that it does not name is left out.
fn ports(service: &Object, pod: &Object) -> Vec<Value> {
    at(service, &["spec", "ports"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|port| {
            let protocol = port.get("protocol").and_then(Value::as_str);
            let protocol = protocol.unwrap_or("TCP");
            let number = match port.get("targetPort") {
                Some(Value::String(wanted)) => container_port(pod, wanted, protocol)?,
                Some(Value::Number(number)) => Value::Number(number.clone()),
                _ => port.get("port")?.clone(),
            };
            let mut resolved = json!({
                "name": port.get("name").and_then(Value::as_str).unwrap_or_default(),
                "port": number,
                "protocol": protocol,
            });
            if let Some(application) = port.get("appProtocol").filter(|a| a.is_string()) {
                resolved["appProtocol"] = application.clone();
            }
            Some(resolved)
        })
        .collect()
}

fn container_port(pod: &Object, wanted: &str, protocol: &str) -> Option<Value> {
    let of = |list: &str| {
        at(pod, &["spec", list])
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    // Sidecars are init containers that go on.
    let sidecars = of("initContainers")
        .into_iter()
        .filter(|c| c.get("restartPolicy").and_then(Value::as_str) == Some("Always"));
    of("containers")
        .into_iter()
        .chain(sidecars)
        .filter_map(|container| container.get("ports")?.as_array().cloned())
        .flatten()
        .find(|port| {
            let own = port.get("protocol").and_then(Value::as_str);
            port.get("name").and_then(Value::as_str) == Some(wanted)
                && own.unwrap_or("TCP") == protocol
        })
        .and_then(|port| port.get("containerPort").cloned())
}

/// The labels that a service's slices bear: its own, and whose they are.
pub(super) fn slice_labels(service: &Object) -> Object {
    let own = at(service, &["metadata", "labels"]).and_then(Value::as_object);
    let mut labels = own.cloned().unwrap_or_default();
    for reserved in [super::SERVICE_NAME, super::MANAGED_BY, HEADLESS] {
        labels.remove(reserved);
    }
    if matches!(
        text(service, &["spec", "clusterIP"]),
        None | Some("" | "None")
    ) {
        labels.insert(HEADLESS.to_owned(), json!(""));
    }
    labels.insert(super::SERVICE_NAME.to_owned(), meta(service, "name").into());
    labels.insert(super::MANAGED_BY.to_owned(), super::MANAGER.into());
    labels
}

/// Marks slices of services without an address.
const HEADLESS: &str = "service.kubernetes.io/headless";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn service(spec: Value) -> Object {
        object(
            json!({"metadata": {"name": "web", "namespace": "d", "uid": "s",
            "labels": {"team": "a", "endpointslice.kubernetes.io/managed-by": "me"}}, "spec": spec}),
        )
    }

    fn pod(name: &str, change: Value) -> Object {
        let mut pod = json!({
            "metadata": {"name": name, "namespace": "d", "uid": format!("u-{name}")},
            "spec": {"nodeName": "n", "containers": [
                {"name": "c", "ports": [
                    {"name": "http", "containerPort": 8080},
                    {"name": "http", "containerPort": 8081, "protocol": "UDP"},
                ]},
            ]},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}],
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        json_patch::merge(&mut pod, &change);
        object(pod)
    }

    fn grouped(service: &Object, pods: &[Object]) -> Vec<Group> {
        groups(service, "IPv4", pods, |node| {
            (node == "n").then(|| "z".into())
        })
    }

    #[test]
    fn an_endpoint_tells_its_pod_and_place() {
        let ports = json!({"ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]});
        let found = grouped(&service(ports), &[pod("p", json!({}))]);
        let expected = Group {
            ports: vec![json!({"name": "", "port": 8080, "protocol": "TCP"})],
            endpoints: vec![json!({
                "addresses": ["10.0.0.1"],
                "conditions": {"ready": true, "serving": true, "terminating": false},
                "targetRef": {"kind": "Pod", "namespace": "d", "name": "p", "uid": "u-p"},
                "nodeName": "n", "zone": "z",
            })],
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn conditions_follow_the_pod() {
        let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        let leaving = json!({"metadata": {"deletionTimestamp": "t"}});
        let conditions = |spec: Value, change: &Value| {
            let groups = grouped(&service(spec), &[pod("p", change.clone())]);
            let c = groups[0].endpoints[0]["conditions"].clone();
            [
                c["ready"] == true,
                c["serving"] == true,
                c["terminating"] == true,
            ]
        };
        assert_eq!(conditions(json!({}), &unready), [false, false, false]);
        assert_eq!(conditions(json!({}), &leaving), [false, true, true]);
        let all = json!({"publishNotReadyAddresses": true});
        assert_eq!(conditions(all.clone(), &unready), [true, false, false]);
        assert_eq!(conditions(all, &leaving), [true, true, true]);
    }

    #[test]
    fn pods_without_address_or_life_are_no_endpoints() {
        let none = [
            pod("a", json!({"status": {"podIP": null, "podIPs": null}})),
            pod("b", json!({"status": {"phase": "Succeeded"}})),
            pod("c", json!({"status": {"phase": "Failed"}})),
            pod("d", json!({"status": {"podIPs": [{"ip": "fd00::1"}]}})),
            pod(
                "e",
                json!({"status": {"podIPs": null, "podIP": "nonsense"}}),
            ),
        ];
        assert_eq!(grouped(&service(json!({})), &none), []);
        let six = groups(&service(json!({})), "IPv6", &none, |_| None);
        assert_eq!(six[0].endpoints[0]["addresses"], json!(["fd00::1"]));
    }

    #[test]
    fn named_ports_are_each_pods_own() {
        let spec = json!({"ports": [
            {"name": "web", "port": 80, "targetPort": "http", "protocol": "TCP", "appProtocol": "h2c"},
            {"name": "gone", "port": 81, "targetPort": "nope", "protocol": "TCP"},
            {"name": "udp", "port": 82, "targetPort": "http", "protocol": "UDP"},
        ]});
        let ports = json!([{"name": "http", "containerPort": 9090}]);
        let sidecar = json!([
            {"name": "setup", "ports": [{"name": "http", "containerPort": 1}]},
            {"name": "side", "restartPolicy": "Always", "ports": [{"name": "http", "containerPort": 2}]},
        ]);
        let pods = [
            pod("a", json!({})),
            pod(
                "b",
                json!({"spec": {"containers": [{"name": "c", "ports": ports}]}}),
            ),
            pod("c", json!({})),
            pod(
                "d",
                json!({"spec": {"containers": [{"name": "c"}], "initContainers": sidecar}}),
            ),
        ];
        let found = grouped(&service(spec), &pods);
        let numbers: Vec<Vec<&Value>> = found
            .iter()
            .map(|g| g.ports.iter().map(|p| &p["port"]).collect())
            .collect();
        assert_eq!(
            numbers,
            [
                vec![&json!(8080), &json!(8081)],
                vec![&json!(9090)],
                vec![&json!(2)]
            ]
        );
        assert_eq!(found[0].endpoints.len(), 2);
        assert_eq!(found[0].ports[0]["appProtocol"], "h2c");
    }

    #[test]
    fn hostnames_are_told_where_names_are_made_of_them() {
        let named = json!({"spec": {"hostname": "web-0", "subdomain": "web"}});
        let other = json!({"spec": {"hostname": "web-0", "subdomain": "db"}});
        let found = grouped(&service(json!({})), &[pod("a", named), pod("b", other)]);
        assert_eq!(found[0].endpoints[0]["hostname"], "web-0");
        assert_eq!(found[0].endpoints[1].get("hostname"), None);
    }

    #[test]
    fn slices_bear_the_services_labels_but_the_reserved() {
        let labels = slice_labels(&service(json!({"clusterIP": "10.96.0.9"})));
        assert_eq!(
            Value::Object(labels),
            json!({"team": "a", "kubernetes.io/service-name": "web",
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"})
        );
        let headless = slice_labels(&service(json!({"clusterIP": "None"})));
        assert_eq!(headless["service.kubernetes.io/headless"], "");
    }

    #[test]
    fn services_without_selector_are_left_alone() {
        assert!(is_served(&service(json!({"selector": {"a": "b"}}))));
        for spec in [
            json!({}),
            json!({"selector": {}}),
            json!({"selector": {"a": "b"}, "type": "ExternalName"}),
        ] {
            assert!(!is_served(&service(spec)));
        }
        assert_eq!(families(&service(json!({}))), ["IPv4"]);
        let both = json!({"ipFamilies": ["IPv6", "IPv4"]});
        assert_eq!(families(&service(both)), ["IPv6", "IPv4"]);
    }
}
