//! The addresses of a Service's load balancers in its status. No I/O, no clock.

use crate::api::{
    Conditions, IngressKeys, LoadBalancer, LoadBalancerDriver, ObjectExt, StringMap,
    condition_types,
};
use crate::index::Ingress;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The key of `lbInfo` that has the address where a class names none.
const ADDRESS: &str = "address";

/// Adds the addresses of a load balancer, which serves these ports, if it is created. Load balancers with
/// the same address share an entry.
pub(super) fn add(
    ingress: &mut Vec<Ingress>,
    lb: &LoadBalancer,
    keys: Option<&IngressKeys>,
    ports: &[(i32, String)],
    refused: &BTreeMap<String, String>,
) -> Result<(), String> {
    let name = lb.metadata.name.as_deref().unwrap_or_default();
    let of_lb = |problem| format!("LoadBalancer {name}: {problem}");
    for address in of(lb, keys).map_err(of_lb)? {
        let texts = [&address.ip, &address.hostname];
        if let Some(problem) = texts.iter().find_map(|it| refused.get(*it)) {
            return Err(of_lb(problem.clone()));
        }
        let mut known = ingress.iter_mut();
        match known.find(|it| (&it.ip, &it.hostname) == (&address.ip, &address.hostname)) {
            Some(known) => known.ports.extend_from_slice(ports),
            None => ingress.push(Ingress {
                ports: ports.to_vec(),
                ..address
            }),
        }
    }
    Ok(())
}

/// The addresses, as text, that a driver announces by a load balancer.
pub(super) fn announced(lb: &LoadBalancer, driver: &LoadBalancerDriver) -> Vec<String> {
    let class = driver.spec.service_class.as_ref();
    let found = of(lb, class.and_then(|class| class.ingress.as_ref())).unwrap_or_default();
    let texts = found.into_iter().flat_map(|it| [it.ip, it.hostname]);
    texts.filter(|it| !it.is_empty()).collect()
}

/// The addresses of a load balancer, without ports; none before it is created.
fn of(lb: &LoadBalancer, keys: Option<&IngressKeys>) -> Result<Vec<Ingress>, String> {
    match &lb.status {
        Some(status)
            if status.conditions.is_true(condition_types::CREATED) && !lb.is_deleting() =>
        {
            addresses(&status.lb_info, keys)
        }
        _ => Ok(Vec::new()),
    }
}

/// The addresses in a load balancer's identity, without ports.
fn addresses(lb_info: &StringMap, keys: Option<&IngressKeys>) -> Result<Vec<Ingress>, String> {
    let of = |key: &str| {
        lb_info
            .get(key)
            .map(String::as_str)
            .filter(|it| !it.is_empty())
    };
    let (ip, hostname) = keys.map_or((None, None), |keys| {
        (keys.ip.as_deref(), keys.hostname.as_deref())
    });
    if ip.is_none() && hostname.is_none() {
        let address = of(ADDRESS).ok_or_else(|| format!("lbInfo has no key {ADDRESS:?}"))?;
        let is_ip = address
            .split(',')
            .all(|it| it.trim().parse::<IpAddr>().is_ok());
        return if is_ip {
            ips(ADDRESS, address)
        } else {
            Ok(vec![host(ADDRESS, address)?])
        };
    }
    let mut found = match ip.and_then(|key| Some((key, of(key)?))) {
        Some((key, value)) => ips(key, value)?,
        None => Vec::new(),
    };
    if let Some((key, value)) = hostname.and_then(|key| Some((key, of(key)?))) {
        let Ingress { hostname, .. } = host(key, value)?;
        match found.first_mut() {
            Some(first) => first.hostname = hostname,
            None => found.push(host(key, value)?),
        }
    }
    if found.is_empty() {
        let keys: Vec<&str> = [ip, hostname].into_iter().flatten().collect();
        return Err(format!("lbInfo has none of the keys {keys:?}"));
    }
    Ok(found)
}

fn ips(key: &str, value: &str) -> Result<Vec<Ingress>, String> {
    let each = value.split(',').map(|text| {
        let ip: Result<IpAddr, _> = text.trim().parse();
        let ip = ip.map_err(|_| format!("lbInfo[{key}]: {value:?} is no IP address"))?;
        Ok(Ingress {
            // An IPv4 address in an IPv6 one is the same address.
            ip: ip.to_canonical().to_string(),
            ..Ingress::default()
        })
    });
    each.collect()
}

fn host(key: &str, value: &str) -> Result<Ingress, String> {
    let hostname = value.to_ascii_lowercase();
    if !crate::api::syntax::is_object_name(&hostname) || hostname.parse::<IpAddr>().is_ok() {
        return Err(format!("lbInfo[{key}]: {value:?} is no host name"));
    }
    Ok(Ingress {
        hostname,
        ..Ingress::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(ip: Option<&str>, hostname: Option<&str>) -> Option<IngressKeys> {
        Some(IngressKeys {
            ip: ip.map(str::to_owned),
            hostname: hostname.map(str::to_owned),
        })
    }

    fn shown(found: Result<Vec<Ingress>, String>) -> Result<Vec<[String; 2]>, String> {
        found.map(|all| all.into_iter().map(|it| [it.ip, it.hostname]).collect())
    }

    #[test]
    fn d74_d43_the_address_is_in_the_keys_that_the_class_names() {
        let info = StringMap::from([
            ("address", "10.0.0.1"),
            ("vip", "::ffff:10.0.0.2, 2001:DB8::1"),
            ("domain", "LB.example.com"),
            ("empty", ""),
        ]);
        let both = [["10.0.0.2", "lb.example.com"], ["2001:db8::1", ""]];
        for (keys, expected) in [
            (None, &[["10.0.0.1", ""]][..]),
            (keys(None, None), &[["10.0.0.1", ""]]),
            (
                keys(Some("vip"), None),
                &[["10.0.0.2", ""], ["2001:db8::1", ""]],
            ),
            (keys(None, Some("domain")), &[["", "lb.example.com"]]),
            (keys(Some("vip"), Some("domain")), &both),
            (
                keys(Some("other"), Some("domain")),
                &[["", "lb.example.com"]],
            ),
            (
                keys(Some("empty"), Some("domain")),
                &[["", "lb.example.com"]],
            ),
        ] {
            let expected = expected.iter().map(|it| it.map(str::to_owned)).collect();
            assert_eq!(
                shown(addresses(&info, keys.as_ref())),
                Ok(expected),
                "{keys:?}"
            );
        }
        let host = StringMap::from([("address", "lb.example.com")]);
        let expected = vec![[String::new(), "lb.example.com".to_owned()]];
        assert_eq!(shown(addresses(&host, None)), Ok(expected));
    }

    #[test]
    fn d74_what_is_no_address_is_named_with_its_key() {
        for (info, keys, expected) in [
            (("other", ""), None, "lbInfo has no key \"address\""),
            (
                ("address", "a b"),
                None,
                "lbInfo[address]: \"a b\" is no host name",
            ),
            (
                ("vip", "lb.example.com"),
                keys(Some("vip"), None),
                "lbInfo[vip]: \"lb.example.com\" is no IP address",
            ),
            (
                ("domain", "10.0.0.1"),
                keys(None, Some("domain")),
                "lbInfo[domain]: \"10.0.0.1\" is no host name",
            ),
            (
                ("a", "b"),
                keys(Some("vip"), Some("domain")),
                "lbInfo has none of the keys [\"vip\", \"domain\"]",
            ),
        ] {
            let found = addresses(&StringMap::from([info]), keys.as_ref());
            assert_eq!(found, Err(expected.to_owned()));
        }
    }

    #[test]
    fn d74_load_balancers_that_are_created_are_shown_with_their_ports() {
        let lb = |name: &str, address: &str, created: &str, meta: serde_json::Value| {
            let mut lb = json!({
                "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "LoadBalancer",
                "metadata": {"name": name, "namespace": "ns"},
                "spec": {"lbDriver": "d", "lbSpec": {}},
                "status": {
                    "lbInfo": {"address": address},
                    "conditions": [{"type": "Created", "status": created}],
                },
            });
            json_patch::merge(&mut lb["metadata"], &meta);
            serde_json::from_value::<LoadBalancer>(lb).unwrap()
        };
        let mut ingress = Vec::new();
        let deleting = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        for (lb, port) in [
            (lb("a", "10.0.0.1", "True", json!({})), 80),
            (lb("b", "10.0.0.2", "False", json!({})), 81),
            (lb("c", "10.0.0.1", "True", json!({})), 443),
            (lb("d", "10.0.0.3", "True", deleting), 82),
            (lb("e", "10.0.0.4", "True", json!({})), 83),
        ] {
            let ports = [(port, "TCP".to_owned())];
            add(&mut ingress, &lb, None, &ports, &BTreeMap::new()).unwrap();
        }
        let entry = |ip: &str, ports: &[i32]| Ingress {
            ip: ip.to_owned(),
            ports: ports.iter().map(|port| (*port, "TCP".to_owned())).collect(),
            ..Ingress::default()
        };
        assert_eq!(
            ingress,
            [entry("10.0.0.1", &[80, 443]), entry("10.0.0.4", &[83])]
        );
        let wrong = lb("w", "", "True", json!({}));
        let mut refused = BTreeMap::new();
        let problem = add(&mut ingress, &wrong, None, &[], &refused).unwrap_err();
        assert_eq!(problem, "LoadBalancer w: lbInfo has no key \"address\"");
        refused.insert("10.0.0.9".to_owned(), "it is taken".to_owned());
        let taken = lb("t", "10.0.0.9", "True", json!({}));
        let problem = add(&mut ingress, &taken, None, &[], &refused).unwrap_err();
        assert_eq!(
            (problem.as_str(), ingress.len()),
            ("LoadBalancer t: it is taken", 2)
        );
    }
}
