//! Validation of EndpointSlices, and fields that the API server ignores.

mod addresses;
mod names;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::Value;

use self::addresses::{address_errors, address_warning};
use self::names::{label_errors, label_value_errors, qualified_name_errors, subdomain_errors};
use super::{PROTOCOLS, items, word};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{Object, text};

const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
/// How many zones and how many nodes the hints of an endpoint may name.
const MAX_HINTS: usize = 8;

const FQDN: &str = "FQDN";
const ADDRESS_TYPES: &[&str] = &[FQDN, "IPv4", "IPv6"];

/// The label of slices of controllers, and the controllers of Kubernetes that write canonical
/// addresses.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLERS: &[&str] = &[
    "endpointslice-controller.k8s.io",
    "endpointslicemirroring-controller.k8s.io",
];

/// Drops `deprecatedTopology`, which clients of `v1` cannot write.
pub(super) fn drop_ignored_fields(slice: &mut Object) {
    let endpoints = slice.get_mut("endpoints").and_then(Value::as_array_mut);
    let endpoints = endpoints.into_iter().flatten();
    for endpoint in endpoints.filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}

pub(super) fn object_errors(slice: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let address_type = address_type(slice);
    if address_type.is_empty() {
        errors.required("addressType", "");
    } else if !ADDRESS_TYPES.contains(&address_type) {
        errors.not_supported("addressType", address_type, ADDRESS_TYPES);
    }
    errors.extend(endpoints_errors(list(slice, "endpoints"), address_type));
    errors.extend(ports_errors(list(slice, "ports")));
    errors
}

pub(super) fn change_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let new = address_type(next);
    let mut errors = Vec::new();
    if new != address_type(before) {
        errors.invalid("addressType", new, "field is immutable");
    }
    errors
}

pub(super) fn warnings(slice: &Object, is_new: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if is_new && address_type(slice) == FQDN {
        // Kubernetes names the field so.
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    let manager = text(slice, &["metadata", "labels", MANAGED_BY]);
    if manager.is_some_and(|manager| CONTROLLERS.contains(&manager)) {
        return warnings;
    }
    for (index, endpoint) in list(slice, "endpoints").iter().enumerate() {
        let addresses = items(Some(endpoint), "addresses").iter().enumerate();
        warnings.extend(addresses.filter_map(|(number, address)| {
            let field = format!("endpoints[{index}].addresses[{number}]");
            address_warning(&field, address.as_str()?)
        }));
    }
    warnings
}

fn address_type(slice: &Object) -> &str {
    text(slice, &["addressType"]).unwrap_or_default()
}

fn list<'a>(slice: &'a Object, field: &str) -> &'a [Value] {
    let list = slice.get(field).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The string of a field, if it is set, though it may be empty.
fn given<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}

fn endpoints_errors(endpoints: &[Value], address_type: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if endpoints.len() > MAX_ENDPOINTS {
        errors.too_many("endpoints", endpoints.len(), MAX_ENDPOINTS);
        return errors;
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        let here = format!("endpoints[{index}]");
        let addresses = items(Some(endpoint), "addresses");
        let field = format!("{here}.addresses");
        if addresses.is_empty() {
            errors.required(field.as_str(), "must contain at least 1 address");
        } else if addresses.len() > MAX_ADDRESSES {
            errors.too_many(field.as_str(), addresses.len(), MAX_ADDRESSES);
        }
        for (number, address) in addresses.iter().enumerate() {
            let address = address.as_str().unwrap_or_default();
            let field = format!("{field}[{number}]");
            errors.extend(address_errors(address_type, &field, address));
        }
        if let Some(node) = given(endpoint, "nodeName") {
            errors.extend(subdomain_errors(&format!("{here}.nodeName"), node));
        }
        if let Some(hostname) = given(endpoint, "hostname") {
            errors.extend(label_errors(&format!("{here}.hostname"), hostname));
        }
        if let Some(hints) = endpoint.get("hints") {
            let here = format!("{here}.hints");
            errors.extend(hint_errors(hints, &here, "forZones", label_value_errors));
            errors.extend(hint_errors(hints, &here, "forNodes", subdomain_errors));
        }
    }
    errors
}

fn hint_errors(
    hints: &Value,
    path: &str,
    field: &str,
    name_errors: fn(&str, &str) -> Vec<FieldError>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (targets, here) = (items(Some(hints), field), format!("{path}.{field}"));
    if targets.len() > MAX_HINTS {
        errors.too_many(here, targets.len(), MAX_HINTS);
        return errors;
    }
    let mut seen = HashSet::new();
    for (index, target) in targets.iter().enumerate() {
        let (name, field) = (word(target, "name"), format!("{here}[{index}].name"));
        if !seen.insert(name) {
            errors.duplicate(field.as_str(), name);
        }
        errors.extend(name_errors(&field, name));
    }
    errors
}

/// The number of a port may be anything, as in Kubernetes.
fn ports_errors(ports: &[Value]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if ports.len() > MAX_PORTS {
        errors.too_many("ports", ports.len(), MAX_PORTS);
        return errors;
    }
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let here = format!("ports[{index}]");
        let (name, field) = (word(port, "name"), format!("{here}.name"));
        if !name.is_empty() {
            errors.extend(label_errors(&field, name));
        }
        if !seen.insert(name) {
            errors.duplicate(field, name);
        }
        match given(port, "protocol") {
            None => errors.required(format!("{here}.protocol"), ""),
            Some(protocol) if !PROTOCOLS.contains(&protocol) => {
                errors.not_supported(format!("{here}.protocol"), protocol, PROTOCOLS);
            }
            Some(_) => {}
        }
        if let Some(name) = given(port, "appProtocol") {
            errors.extend(qualified_name_errors(&format!("{here}.appProtocol"), name));
        }
    }
    errors
}
