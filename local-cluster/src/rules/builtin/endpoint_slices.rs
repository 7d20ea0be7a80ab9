//! The addresses of EndpointSlices, and fields that the API server ignores.

use std::net::IpAddr;

use serde_json::Value;

use crate::addresses::is_local_pod;
use crate::field_error::{ErrorList as _, FieldError};
use crate::names;
use crate::object::{Object, items, items_in, list, maps_in, text};

/// Drops `deprecatedTopology`, which clients of `v1` cannot write, and empty lists, which are not stored.
pub(super) fn drop_ignored_fields(slice: &mut Object) {
    for endpoint in maps_in(slice.get_mut("endpoints")) {
        endpoint.remove("deprecatedTopology");
    }
    for field in ["endpoints", "ports"] {
        if list(slice, &[field]).is_empty() {
            slice.insert(field.to_owned(), Value::Null);
        }
    }
}

/// Addresses are of the type of their slice; those of unknown types are not validated.
pub(super) fn address_errors(slice: &Object) -> Vec<FieldError> {
    let address_type = text(slice, &["addressType"]).unwrap_or_default();
    let mut errors = Vec::new();
    for (index, endpoint) in items(slice, &["endpoints"]).enumerate() {
        for (number, address) in items_in(endpoint, "addresses").enumerate() {
            let address = address.as_str().unwrap_or_default();
            let why = match address_type {
                "IPv4" | "IPv6" => ip_fault(address, address_type),
                "FQDN" => domain_fault(address),
                _ => None,
            };
            if let Some(why) = why {
                let mut field = format!("endpoints[{index}].addresses[{number}]");
                if why.starts_with("must be an IPv") {
                    field = format!("endpoints[{index}].addresses");
                }
                errors.invalid(field, address, &why);
            }
        }
    }
    errors
}

fn ip_fault(address: &str, address_type: &str) -> Option<String> {
    let Ok(ip) = address.parse::<IpAddr>() else {
        let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        return Some(why.to_owned());
    };
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || matches!(ip.octets(), [224, 0, 0, _]),
        IpAddr::V6(ip) => {
            ip.is_unicast_link_local() || matches!(ip.octets(), [0xff, s, ..] if s & 0x0f == 2)
        }
    };
    if ip.is_ipv4() != (address_type == "IPv4") {
        Some(format!("must be an {address_type} address"))
    } else if matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some()) {
        Some("must not be an IPv4-mapped IPv6 address".to_owned())
    } else if ip.is_unspecified() {
        Some(format!("may not be unspecified ({address})"))
    } else if ip.is_loopback() && !is_local_pod(ip) {
        // Pods that serve on this machine are endpoints, too.
        Some("may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned())
    } else {
        is_link_local.then(|| "may not be in a link-local range".to_owned())
    }
}

/// At least two labels; a final dot is not part of the name.
fn domain_fault(address: &str) -> Option<String> {
    let name = address.strip_suffix('.').unwrap_or(address);
    if !names::is_subdomain(name) {
        return Some(names::SUBDOMAIN.to_owned());
    }
    let why = "should be a domain with at least two segments separated by dots";
    (!name.contains('.')).then(|| why.to_owned())
}
