//! Reads a slice as far as it is well-formed.

use super::{Endpoint, EndpointConditions, PodTarget, SlicePort, SliceView};
use crate::api::syntax::is_dns_label;
use crate::api::{AddressFamily, ObjectKey, allowed, key_of};
use crate::index::store::version_of;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The label of a slice that names its Service.
const LABEL_SERVICE: &str = "kubernetes.io/service-name";
/// The number of endpoints that a slice may have, and an endpoint addresses.
const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;

/// The fields of a slice beside its metadata, as text. An API server writes `null` for an empty list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SliceParts<'a> {
    pub address_type: Option<&'a RawValue>,
    pub endpoints: Option<&'a RawValue>,
    pub ports: Option<&'a RawValue>,
}

/// An endpoint as it is written. Whatever else it has is ignored, such as `deprecatedTopology`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenEndpoint {
    addresses: Option<Vec<String>>,
    conditions: Option<WrittenConditions>,
    hostname: Option<String>,
    node_name: Option<String>,
    zone: Option<String>,
    target_ref: Option<WrittenTarget>,
    hints: Option<WrittenHints>,
}

#[derive(Default, Deserialize)]
struct WrittenConditions {
    ready: Option<bool>,
    serving: Option<bool>,
    terminating: Option<bool>,
}

#[derive(Deserialize)]
struct WrittenTarget {
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenHints {
    for_zones: Option<Vec<WrittenZone>>,
}

#[derive(Deserialize)]
struct WrittenZone {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenPort {
    name: Option<String>,
    port: Option<i64>,
    protocol: Option<String>,
    app_protocol: Option<String>,
}

impl SliceView {
    pub(crate) fn read(metadata: &ObjectMeta, parts: SliceParts<'_>) -> Self {
        let labels = metadata.labels.as_ref();
        let service = labels.and_then(|labels| labels.get(LABEL_SERVICE));
        let key = key_of(metadata);
        let service = service.filter(|name| !name.is_empty());
        let service = service.map(|name| ObjectKey::new(key.namespace.clone(), name.as_str()));
        let mut view = Self {
            version: version_of(metadata),
            key,
            service,
            family: AddressFamily::default(),
            ports: Vec::new(),
            endpoints: Vec::new(),
            problems: Vec::new(),
            is_unknown: false,
        };
        if view.service.is_none() {
            return view;
        }
        let mut problems = Problems::default();
        let read = read_family(parts, &mut problems).and_then(|family| {
            let ports = read_ports(parts, &mut problems)?;
            let endpoints = read_endpoints(parts, &view.key, family, &mut problems)?;
            Some((family, ports, endpoints))
        });
        view.is_unknown = read.is_none();
        if let Some((family, ports, endpoints)) = read {
            view.family = family;
            view.ports = ports;
            view.endpoints = endpoints;
        }
        view.problems = problems.texts();
        view
    }
}

fn read_family(parts: SliceParts<'_>, problems: &mut Problems) -> Option<AddressFamily> {
    match parts.address_type {
        Some(written) => problems.catch("addressType", serde_json::from_str(written.get())),
        None => {
            problems.add("addressType", "required; must be IPv4, IPv6 or FQDN");
            None
        }
    }
}

/// The items of a list. If one cannot be decoded, each of the others still counts.
fn items<T: DeserializeOwned>(
    list: Option<&RawValue>,
    field: &str,
    problems: &mut Problems,
) -> Option<Vec<(usize, T)>> {
    let Some(list) = list else {
        return Some(Vec::new());
    };
    if let Ok(items) = serde_json::from_str::<Vec<T>>(list.get()) {
        return Some(items.into_iter().enumerate().collect());
    }
    let items: Vec<&RawValue> = problems.catch(field, serde_json::from_str(list.get()))?;
    let items = items.into_iter().enumerate().filter_map(|(i, item)| {
        let item = problems.catch(&format!("{field}[{i}]"), serde_json::from_str(item.get()))?;
        Some((i, item))
    });
    Some(items.collect())
}

/// There may be more than 100.
fn read_ports(parts: SliceParts<'_>, problems: &mut Problems) -> Option<Vec<SlicePort>> {
    let mut ports: Vec<SlicePort> = Vec::new();
    for (i, written) in items::<WrittenPort>(parts.ports, "ports", problems)? {
        let name = written.name.unwrap_or_default();
        if ports.iter().any(|other| other.name == name) {
            let problem = format!("{name:?}: duplicate; the first port of this name counts");
            problems.add(&format!("ports[{i}].name"), &problem);
            continue;
        }
        let port = match written.port {
            Some(number @ 1..=65535) => i32::try_from(number).ok(),
            None => None,
            Some(number) => {
                let problem = format!("{number}: {}", allowed::IS_PORT);
                problems.add(&format!("ports[{i}].port"), &problem);
                continue;
            }
        };
        let protocol = written.protocol.unwrap_or_default();
        let Ok(protocol) = protocol.parse::<Protocol>() else {
            let problem = format!("{protocol:?}: {}", allowed::IS_ENDPOINT_PROTOCOL);
            problems.add(&format!("ports[{i}].protocol"), &problem);
            continue;
        };
        ports.push(SlicePort {
            name,
            port,
            protocol,
            app_protocol: written.app_protocol.filter(|text| !text.is_empty()),
        });
    }
    Some(ports)
}

fn read_endpoints(
    parts: SliceParts<'_>,
    slice: &ObjectKey,
    family: AddressFamily,
    problems: &mut Problems,
) -> Option<Vec<Endpoint>> {
    let written = items::<WrittenEndpoint>(parts.endpoints, "endpoints", problems)?;
    if written.len() > MAX_ENDPOINTS {
        let problem = format!(
            "{} entries; at most {MAX_ENDPOINTS} are allowed",
            written.len()
        );
        problems.add("endpoints", &problem);
        return None;
    }
    let mut texts = Texts::default();
    let mut endpoints: Vec<Endpoint> = Vec::with_capacity(written.len());
    for (i, written) in written {
        let addresses = written.addresses.as_deref().unwrap_or_default();
        let field = format!("endpoints[{i}].addresses");
        let Some(address) = read_address(addresses, family, &field, problems) else {
            continue;
        };
        let hostname = written.hostname.filter(|text| !text.is_empty());
        let hostname = hostname.filter(|text| {
            let is_label = is_dns_label(text);
            if !is_label {
                let field = format!("endpoints[{i}].hostname");
                problems.add(&field, &format!("{text:?}: must be a DNS label"));
            }
            is_label
        });
        let conditions = written.conditions.unwrap_or_default();
        let zones = written.hints.and_then(|hints| hints.for_zones);
        let zones = zones.into_iter().flatten().filter_map(|zone| zone.name);
        endpoints.push(Endpoint {
            address,
            conditions: EndpointConditions {
                ready: conditions.ready,
                serving: conditions.serving,
                terminating: conditions.terminating,
            },
            pod: written
                .target_ref
                .and_then(|target| pod_target(target, slice)),
            node_name: texts.share(written.node_name),
            zone: texts.share(written.zone),
            hostname: texts.share(hostname),
            for_zones: zones.filter_map(|zone| texts.share(Some(zone))).collect(),
        });
    }
    endpoints.sort_by(|a, b| a.address.cmp(&b.address));
    Some(endpoints)
}

/// The first address, if all are of the slice's type. An IP address has one spelling, so that
/// equal ones are found.
fn read_address(
    addresses: &[String],
    family: AddressFamily,
    field: &str,
    problems: &mut Problems,
) -> Option<Arc<str>> {
    if !(1..=MAX_ADDRESSES).contains(&addresses.len()) {
        let count = addresses.len();
        problems.add(
            field,
            &format!("{count} entries; 1 to {MAX_ADDRESSES} are allowed"),
        );
        return None;
    }
    let mut first = None;
    for (i, address) in addresses.iter().enumerate() {
        let Some(read) = spelled(address, family) else {
            let problem = format!("{address:?}: not a valid {} address", family.as_str());
            problems.add(&format!("{field}[{i}]"), &problem);
            return None;
        };
        first.get_or_insert(read);
    }
    first.map(Arc::from)
}

fn spelled(address: &str, family: AddressFamily) -> Option<String> {
    match family {
        AddressFamily::IPv4 => address.parse::<Ipv4Addr>().ok().map(|ip| ip.to_string()),
        AddressFamily::IPv6 => address.parse::<Ipv6Addr>().ok().map(|ip| ip.to_string()),
        AddressFamily::Fqdn => {
            let name = address.strip_suffix('.').unwrap_or(address);
            let is_name = name.len() <= allowed::NAME && name.split('.').all(is_dns_label);
            is_name.then(|| name.to_owned())
        }
    }
}

/// A pod beside the slice. A reference without a uid cannot tell a pod from its successor.
fn pod_target(target: WrittenTarget, slice: &ObjectKey) -> Option<PodTarget> {
    let is_beside = target
        .namespace
        .is_none_or(|namespace| namespace.is_empty() || *namespace == *slice.namespace);
    if target.kind.as_deref() != Some("Pod") || !is_beside {
        return None;
    }
    let text = |text: Option<String>| text.filter(|text| !text.is_empty()).map(Arc::from);
    Some(PodTarget {
        name: text(target.name)?,
        uid: text(target.uid)?,
    })
}

/// Texts of which one copy is kept for a slice.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn share(&mut self, text: Option<String>) -> Option<Arc<str>> {
        let text = text.filter(|text| !text.is_empty())?;
        if let Some(shared) = self.0.get(text.as_str()) {
            return Some(Arc::clone(shared));
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        Some(text)
    }
}

/// The number of problems of a slice that are kept; a thousand endpoints may have the same.
const KEPT: usize = 3;

/// The malformed parts of a slice, by field.
#[derive(Debug, Default)]
pub(super) struct Problems {
    texts: Vec<String>,
    others: usize,
}

impl Problems {
    pub(super) fn add(&mut self, field: &str, problem: &str) {
        if self.texts.len() < KEPT {
            self.texts.push(format!("{field}: {problem}"));
        } else {
            self.others += 1;
        }
    }

    /// The value, or none and a problem.
    pub(super) fn catch<T>(&mut self, field: &str, read: serde_json::Result<T>) -> Option<T> {
        read.inspect_err(|error| self.add(field, &error.to_string()))
            .ok()
    }

    pub(super) fn texts(mut self) -> Vec<String> {
        if self.others > 0 {
            self.texts.push(format!("and {} more", self.others));
        }
        self.texts
    }
}
