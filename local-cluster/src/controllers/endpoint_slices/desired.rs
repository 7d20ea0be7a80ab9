//! The endpoints that a service should have, from its pods.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::addresses::{cluster_ip, protocol};
use crate::controllers::pods::{has_ended, is_ready, node_name};
use crate::object::{
    Object, at, entries, is_deleting, items, items_in, map, meta, name, namespace, string, text,
    uid,
};

pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub(super) const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The value of [`MANAGED_BY`] in the slices of this controller.
pub(super) const MANAGER: &str = "endpointslice-controller.k8s.io";
/// The label of the slices of services without a cluster IP.
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Endpoints with the same address family and ports, which can share slices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EndpointGroup {
    pub(super) ports: Vec<Value>,
    pub(super) endpoints: Vec<Value>,
}

/// This controller keeps the slices of a service. Clients keep those of services without a
/// selector.
pub(super) fn has_slices(service: &Object) -> bool {
    entries(service, &["spec", "selector"]).next().is_some()
        && text(service, &["spec", "type"]) != Some("ExternalName")
        && !is_deleting(service)
}

pub(super) fn families(service: &Object) -> Vec<&str> {
    let families: Vec<&str> = items(service, &["spec", "ipFamilies"])
        .filter_map(Value::as_str)
        .filter(|family| matches!(*family, "IPv4" | "IPv6"))
        .collect();
    if families.is_empty() {
        return vec!["IPv4"];
    }
    families
}

/// The endpoints of one address family, by the resolved ports of the service.
pub(super) fn groups<'a>(
    service: &Object,
    family: &str,
    pods: impl IntoIterator<Item = &'a Object>,
    zone_of: impl Fn(&str) -> Option<String>,
) -> Vec<EndpointGroup> {
    let mut groups: Vec<EndpointGroup> = Vec::new();
    for pod in pods {
        let Some(endpoint) = endpoint(service, family, pod, &zone_of) else {
            continue;
        };
        let ports = ports(service, pod);
        match groups.iter_mut().find(|group| group.ports == ports) {
            Some(group) => group.endpoints.push(endpoint),
            None => groups.push(EndpointGroup {
                ports,
                endpoints: vec![endpoint],
            }),
        }
    }
    groups
}

/// The parts of a pod that decide about its endpoints.
pub(super) fn endpoint_inputs(pod: &Object) -> Value {
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

fn endpoint(
    service: &Object,
    family: &str,
    pod: &Object,
    zone_of: &impl Fn(&str) -> Option<String>,
) -> Option<Value> {
    let addresses = addresses(pod, family);
    if has_ended(pod) || addresses.is_empty() {
        return None;
    }
    let (serving, terminating) = (is_ready(pod), is_deleting(pod));
    let publish_unready = at(service, &["spec", "publishNotReadyAddresses"]) == Some(&json!(true));
    let mut endpoint = json!({
        "addresses": addresses,
        "conditions": {
            "ready": publish_unready || (serving && !terminating),
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
    if let Some(node) = node_name(pod) {
        endpoint["nodeName"] = Value::from(node);
        if let Some(zone) = zone_of(node) {
            endpoint["zone"] = Value::from(zone);
        }
    }
    Some(endpoint)
}

fn addresses(pod: &Object, family: &str) -> Vec<String> {
    let mut given: Vec<&str> = items(pod, &["status", "podIPs"])
        .filter_map(|entry| entry.get("ip")?.as_str())
        .collect();
    // A client that writes the status may set `podIP` only.
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

/// The service's ports, resolved for a pod; a named port that the pod does not have is left out.
fn ports(service: &Object, pod: &Object) -> Vec<Value> {
    items(service, &["spec", "ports"])
        .filter_map(|port| {
            let protocol = protocol(port);
            let number = match port.get("targetPort") {
                Some(Value::String(name)) => container_port(pod, name, protocol)?,
                Some(Value::Number(number)) => Value::Number(number.clone()),
                _ => port.get("port")?.clone(),
            };
            let mut resolved = json!({
                "name": string(port, "name"),
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

fn container_port(pod: &Object, name: &str, protocol: &str) -> Option<Value> {
    let sidecars = items(pod, &["spec", "initContainers"])
        .filter(|container| string(container, "restartPolicy") == "Always");
    items(pod, &["spec", "containers"])
        .chain(sidecars)
        .flat_map(|container| items_in(container, "ports"))
        .find(|port| string(port, "name") == name && self::protocol(port) == protocol)
        .and_then(|port| port.get("containerPort").cloned())
}

/// The labels of a service's slices: those of the service, and those that name service and manager.
pub(super) fn slice_labels(service: &Object) -> Object {
    let mut labels = map(service, &["metadata", "labels"])
        .cloned()
        .unwrap_or_default();
    for reserved in [SERVICE_NAME, MANAGED_BY, HEADLESS] {
        labels.remove(reserved);
    }
    if cluster_ip(service).is_none() {
        labels.insert(HEADLESS.to_owned(), json!(""));
    }
    labels.insert(SERVICE_NAME.to_owned(), meta(service, "name").into());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
    labels
}

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

    fn grouped(service: &Object, pods: &[Object]) -> Vec<EndpointGroup> {
        groups(service, "IPv4", pods, |node| {
            (node == "n").then(|| "z".into())
        })
    }

    #[test]
    fn an_endpoint_names_its_pod_node_and_zone() {
        let ports = json!({"ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]});
        let found = grouped(&service(ports), &[pod("p", json!({}))]);
        let expected = EndpointGroup {
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
        let deleted = json!({"metadata": {"deletionTimestamp": "t"}});
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
        assert_eq!(conditions(json!({}), &deleted), [false, true, true]);
        let all = json!({"publishNotReadyAddresses": true});
        assert_eq!(conditions(all.clone(), &unready), [true, false, false]);
        assert_eq!(conditions(all, &deleted), [true, true, true]);
    }

    #[test]
    fn pods_without_address_and_ended_pods_are_no_endpoints() {
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
    fn named_ports_are_resolved_for_each_pod() {
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
    fn hostnames_are_set_for_the_pods_own_subdomain() {
        let named = json!({"spec": {"hostname": "web-0", "subdomain": "web"}});
        let other = json!({"spec": {"hostname": "web-0", "subdomain": "db"}});
        let found = grouped(&service(json!({})), &[pod("a", named), pod("b", other)]);
        assert_eq!(found[0].endpoints[0]["hostname"], "web-0");
        assert_eq!(found[0].endpoints[1].get("hostname"), None);
    }

    #[test]
    fn slices_have_the_labels_of_the_service() {
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
    fn services_without_selector_have_no_slices() {
        assert!(has_slices(&service(json!({"selector": {"a": "b"}}))));
        for spec in [
            json!({}),
            json!({"selector": {}}),
            json!({"selector": {"a": "b"}, "type": "ExternalName"}),
        ] {
            assert!(!has_slices(&service(spec)));
        }
        assert_eq!(families(&service(json!({}))), ["IPv4"]);
        let both = json!({"ipFamilies": ["IPv6", "IPv4"]});
        assert_eq!(families(&service(both)), ["IPv6", "IPv4"]);
    }
}
