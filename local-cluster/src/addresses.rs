//! Cluster IPs and node ports of services, and the network of pods that serve.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, at, child, items, list, maps_in, object, string, text};

/// The first cluster IP, which is that of the API server's own service.
const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);
const IP_COUNT: u32 = 4096;
/// The default range of `--service-node-port-range`.
const NODE_PORTS: RangeInclusive<u64> = 30_000..=32_767;
/// The node port at which load balancers ask whether a node has a local endpoint.
pub(crate) const HEALTH_PORT: &str = "healthCheckNodePort";
/// The first address of pods that serve on this machine.
pub(crate) const FIRST_LOCAL_POD: Ipv4Addr = Ipv4Addr::new(127, 244, 0, 2);

/// Tells the addresses of such pods from others.
pub(crate) const fn is_local_pod(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if matches!(ip.octets(), [127, 244, ..]))
}

/// The error has a field.
type Assigned<T> = Result<T, (&'static str, String)>;

/// Allocates the cluster IP and the node ports that a service lacks; `before` is its former version.
pub(crate) fn assign<'a>(
    service: &mut Object,
    before: Option<&Object>,
    others: impl Iterator<Item = &'a Object>,
) -> Assigned<()> {
    let (mut ips, mut ports) = (HashSet::new(), HashSet::new());
    for other in others {
        ips.extend(cluster_ip(other).map(str::to_owned));
        ports.extend(node_ports(other));
    }
    if type_of(service) == "ExternalName" {
        return Ok(());
    }
    assign_ip(service, before, &ips)?;
    let balances = type_of(service) == "LoadBalancer";
    let has_ports = has_node_ports(service);
    let needs_health_port = needs_health_port(service);
    let spec = child(service, "spec");
    if needs_health_port && !spec.contains_key(HEALTH_PORT) {
        let kept = before
            .and_then(|b| at(b, &["spec", HEALTH_PORT]))
            .and_then(Value::as_u64);
        let free = kept.map_or_else(|| free_port(&mut ports), Ok)?;
        spec.insert(HEALTH_PORT.to_owned(), Value::from(free));
    }
    let declines = spec.get("allocateLoadBalancerNodePorts") == Some(&Value::Bool(false));
    if !has_ports || balances && declines {
        return Ok(());
    }
    let kept: Vec<&Value> =
        before.map_or_else(Vec::new, |b| items(b, &["spec", "ports"]).collect());
    for port in maps_in(spec.get_mut("ports")) {
        if port.get("nodePort").and_then(Value::as_u64).unwrap_or(0) != 0 {
            continue;
        }
        let kept = kept
            .iter()
            .find(|kept| kept.get("port") == port.get("port"));
        let kept = kept.and_then(|kept| node_port(kept));
        let free = kept.map_or_else(|| free_port(&mut ports), Ok)?;
        port.insert("nodePort".to_owned(), Value::from(free));
    }
    Ok(())
}

/// The cluster IP, which a service lacks that was created by its status, and the families.
fn assign_ip(
    service: &mut Object,
    before: Option<&Object>,
    taken: &HashSet<String>,
) -> Assigned<()> {
    let kept = before.and_then(|b| text(b, &["spec", "clusterIP"]));
    let lacks = kept.is_none() && before.is_none_or(|b| type_of(b) == "ExternalName");
    let given = text(service, &["spec", "clusterIP"]).filter(|ip| !ip.is_empty());
    let ip = match given.or(kept) {
        None if lacks => {
            let ips = (0..IP_COUNT).filter_map(|n| u32::from(FIRST_IP).checked_add(n));
            let mut ips = ips.map(|ip| Ipv4Addr::from(ip).to_string());
            let free = ips.find(|ip| !taken.contains(ip));
            Some(free.ok_or(("spec.clusterIP", "the service range is full".to_owned()))?)
        }
        ip => ip.map(str::to_owned),
    };
    let ip = ip.map(|ip| json!({"clusterIP": ip, "clusterIPs": [ip]}));
    let families = json!({"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"});
    for (field, default) in [ip.unwrap_or_default(), families]
        .into_iter()
        .flat_map(object)
    {
        child(service, "spec").entry(field).or_insert(default);
    }
    Ok(())
}

fn free_port(taken: &mut HashSet<u64>) -> Assigned<u64> {
    let free = NODE_PORTS.clone().find(|port| taken.insert(*port));
    free.ok_or(("spec.ports", "the node port range is full".to_owned()))
}

/// The services have an address in common.
pub(crate) fn overlap(one: &Object, other: &Object) -> bool {
    cluster_ip(one).is_some_and(|own| cluster_ip(other) == Some(own))
        || node_ports(one).any(|port| node_ports(other).any(|theirs| theirs == port))
}

/// Errors of requested addresses and node ports that are allocated to another service or out of range.
pub(crate) fn taken<'a>(
    service: &Object,
    before: Option<&Object>,
    others: impl Iterator<Item = &'a Object> + Clone,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let is_new = |number: &u64| before.is_none_or(|b| !node_ports(b).any(|own| own == *number));
    let has_ports = has_node_ports(service);
    for (index, port) in items(service, &["spec", "ports"]).enumerate() {
        let Some(number) = node_port(port).filter(|number| has_ports && is_new(number)) else {
            continue;
        };
        let same = |theirs: &Value| {
            (node_port(theirs), protocol(theirs)) == (Some(number), protocol(port))
        };
        let mut theirs = others
            .clone()
            .flat_map(|other| items(other, &["spec", "ports"]));
        let why = if !NODE_PORTS.contains(&number) {
            "provided port is not in the valid range. The range of valid ports is 30000-32767"
        } else if theirs.any(same) {
            "provided port is already allocated"
        } else {
            continue;
        };
        errors.invalid(format!("spec.ports[{index}].nodePort"), number, why);
    }
    if let Some(own) = cluster_ip(service)
        && before.and_then(cluster_ip) != Some(own)
        && others
            .into_iter()
            .any(|other| cluster_ip(other) == Some(own))
    {
        let why = format!("failed to allocate IP {own}: provided IP is already allocated");
        errors.invalid("spec.clusterIPs", json!([own]), &why);
    }
    errors
}

pub(crate) fn type_of(service: &Object) -> &str {
    text(service, &["spec", "type"]).unwrap_or("ClusterIP")
}

pub(crate) fn has_node_ports(service: &Object) -> bool {
    matches!(type_of(service), "NodePort" | "LoadBalancer")
}

/// Clients outside of the cluster can reach the service.
pub(crate) fn is_exposed(service: &Object) -> bool {
    has_node_ports(service) || !list(service, &["spec", "externalIPs"]).is_empty()
}

pub(crate) fn needs_health_port(service: &Object) -> bool {
    let policy = text(service, &["spec", "externalTrafficPolicy"]);
    type_of(service) == "LoadBalancer" && policy == Some("Local")
}

pub(crate) fn node_port(port: &Value) -> Option<u64> {
    port.get("nodePort")?.as_u64().filter(|number| *number != 0)
}

pub(crate) fn protocol(port: &Value) -> &str {
    match string(port, "protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

pub(crate) fn cluster_ip(service: &Object) -> Option<&str> {
    text(service, &["spec", "clusterIP"]).filter(|ip| !matches!(*ip, "" | "None"))
}

fn node_ports(service: &Object) -> impl Iterator<Item = u64> {
    let health = at(service, &["spec", HEALTH_PORT]).and_then(Value::as_u64);
    let ports = items(service, &["spec", "ports"]).filter_map(node_port);
    ports.chain(health)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn services_get_free_addresses() {
        let mut first =
            object(json!({"spec": {"type": "NodePort", "ports": [{"port": 80}, {"port": 81}]}}));
        assign(&mut first, None, std::iter::empty()).unwrap();
        let mut second = object(json!({"spec": {"type": "NodePort", "ports": [{"port": 80}]}}));
        assign(&mut second, None, std::iter::once(&first)).unwrap();
        assert_ne!(first["spec"]["clusterIP"], second["spec"]["clusterIP"]);
        assert!(node_ports(&first).eq([30_000, 30_001]));
        assert!(node_ports(&second).eq([30_002]));
        let mut none = object(json!({"spec": {
            "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false,
            "ports": [{"port": 80}],
        }}));
        assign(&mut none, None, std::iter::empty()).unwrap();
        assert_eq!(node_ports(&none).next(), None);
    }

    #[test]
    fn common_addresses_are_detected() {
        let service = |ip: &str, port: u64| {
            object(json!({"spec": {"clusterIP": ip, "ports": [{"port": 1, "nodePort": port}]}}))
        };
        let one = service("10.96.0.2", 30_000);
        assert!(overlap(&one, &service("10.96.0.2", 30_001)));
        assert!(overlap(&one, &service("10.96.0.3", 30_000)));
        assert!(!overlap(&one, &service("10.96.0.3", 30_001)));
        assert!(!overlap(&service("None", 1), &service("None", 2)));
    }

    #[test]
    fn a_changed_service_keeps_its_addresses() {
        let mut before = object(json!({"spec": {"type": "NodePort", "ports": [{"port": 80}]}}));
        assign(&mut before, None, std::iter::empty()).unwrap();
        let mut next =
            object(json!({"spec": {"type": "NodePort", "ports": [{"port": 80}, {"port": 90}]}}));
        assign(&mut next, Some(&before), std::iter::empty()).unwrap();
        assert_eq!(next["spec"]["clusterIP"], before["spec"]["clusterIP"]);
        assert_eq!(next["spec"]["ports"][0], before["spec"]["ports"][0]);
    }

    #[test]
    fn allocated_addresses_and_ports_are_refused() {
        let service = |spec: Value| object(json!({ "spec": spec }));
        let other = service(json!({"type": "NodePort", "clusterIP": "10.96.0.9",
            "ports": [{"port": 80, "nodePort": 30000, "protocol": "TCP"}]}));
        let errors = |spec: Value, before: Option<&Object>| {
            let taken = taken(&service(spec), before, std::iter::once(&other)).into_iter();
            let line = |error: FieldError| format!("{}: {}", error.field, error.message);
            taken.map(line).collect::<Vec<String>>()
        };
        let node_port =
            |port: u64| json!({"type": "NodePort", "ports": [{"port": 1, "nodePort": port}]});
        for (spec, expected) in [
            (
                node_port(30_000),
                "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated",
            ),
            (
                node_port(80),
                "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
            ),
            (
                json!({"clusterIP": "10.96.0.9"}),
                "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to allocate IP 10.96.0.9: provided IP is already allocated",
            ),
        ] {
            assert_eq!(errors(spec, None), [expected]);
        }
        assert!(errors(node_port(30_001), None).is_empty());
        let own_ports = service(node_port(80));
        assert!(errors(node_port(80), Some(&own_ports)).is_empty());
    }
}
