//! Cluster IPs and node ports of services, and the network of pods that serve.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use crate::object::{Object, child, items, text};

/// The first cluster IP, which is that of the API server's own service.
const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);
const IP_COUNT: u32 = 4096;
const PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;

/// The first address of pods that serve on this machine.
pub(crate) const FIRST_LOCAL_POD: Ipv4Addr = Ipv4Addr::new(127, 244, 0, 2);

/// Tells the addresses of such pods from others.
pub(crate) const fn is_local_pod(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if matches!(ip.octets(), [127, 244, ..]))
}

/// Allocates the cluster IP and the node ports that a service lacks; `before` is its former version.
pub(crate) fn assign<'a>(
    service: &mut Object,
    before: Option<&Object>,
    others: impl Iterator<Item = &'a Object>,
) -> Result<(), (&'static str, String)> {
    let (mut ips, mut ports) = (HashSet::new(), HashSet::new());
    for other in others {
        ips.extend(text(other, &["spec", "clusterIP"]).map(str::to_owned));
        ports.extend(node_ports(other));
    }
    let type_name = text(service, &["spec", "type"])
        .unwrap_or("ClusterIP")
        .to_owned();
    if type_name == "ExternalName" {
        return Ok(());
    }
    if text(service, &["spec", "clusterIP"])
        .unwrap_or_default()
        .is_empty()
    {
        let kept = before
            .and_then(|b| text(b, &["spec", "clusterIP"]))
            .map(str::to_owned);
        let ip = match kept {
            Some(ip) => ip,
            None => (0..IP_COUNT)
                .filter_map(|n| Some(Ipv4Addr::from(u32::from(FIRST_IP).checked_add(n)?)))
                .map(|ip| ip.to_string())
                .find(|ip| !ips.contains(ip))
                .ok_or(("spec.clusterIP", "the service range is full".to_owned()))?,
        };
        let spec = child(service, "spec");
        spec.insert("clusterIPs".to_owned(), json!([ip]));
        spec.insert("clusterIP".to_owned(), Value::from(ip));
    }
    if !matches!(type_name.as_str(), "NodePort" | "LoadBalancer") {
        return Ok(());
    }
    let spec = child(service, "spec");
    let declines = spec.get("allocateLoadBalancerNodePorts") == Some(&Value::Bool(false));
    if type_name == "LoadBalancer" && declines {
        return Ok(());
    }
    let kept: Vec<(Value, u16)> = before.map(ports_by_number).unwrap_or_default();
    let Some(Value::Array(list)) = child(service, "spec").get_mut("ports") else {
        return Ok(());
    };
    for port in list.iter_mut().filter_map(Value::as_object_mut) {
        if port.get("nodePort").and_then(Value::as_u64).unwrap_or(0) != 0 {
            continue;
        }
        let number = port.get("port").cloned().unwrap_or_default();
        let free = kept
            .iter()
            .find(|(of, _)| *of == number)
            .map(|(_, node_port)| *node_port)
            .or_else(|| PORTS.clone().find(|p| !ports.contains(p)))
            .ok_or(("spec.ports", "the node port range is full".to_owned()))?;
        ports.insert(free);
        port.insert("nodePort".to_owned(), Value::from(free));
    }
    Ok(())
}

/// The services have an address in common.
pub(crate) fn overlap(one: &Object, other: &Object) -> bool {
    let ip =
        |service| text(service, &["spec", "clusterIP"]).filter(|ip| !matches!(*ip, "" | "None"));
    let ports = node_ports(other);
    ip(one).is_some_and(|own| ip(other) == Some(own))
        || node_ports(one).iter().any(|port| ports.contains(port))
}

fn ports_by_number(service: &Object) -> Vec<(Value, u16)> {
    items(service, &["spec", "ports"])
        .filter_map(|p| {
            let node_port = u16::try_from(p.get("nodePort")?.as_u64()?).ok()?;
            Some((p.get("port")?.clone(), node_port))
        })
        .collect()
}

fn node_ports(service: &Object) -> Vec<u16> {
    let ports = ports_by_number(service).into_iter();
    ports.map(|(_, node_port)| node_port).collect()
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
        assert_eq!(node_ports(&first), [30_000, 30_001]);
        assert_eq!(node_ports(&second), [30_002]);
        let mut none = object(json!({"spec": {
            "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false,
            "ports": [{"port": 80}],
        }}));
        assign(&mut none, None, std::iter::empty()).unwrap();
        assert!(node_ports(&none).is_empty());
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
}
