//! The addresses of endpoints.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::FQDN;
use super::names::{label_messages, subdomain_messages};
use crate::addresses::is_local_pod;
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;

/// Validates an address by the type of its slice; those of unknown types are not validated.
pub(super) fn address_errors(address_type: &str, field: &str, address: &str) -> Vec<FieldError> {
    match address_type {
        "IPv4" => ip_errors(field, address, true),
        "IPv6" => ip_errors(field, address, false),
        FQDN => domain_errors(field, address),
        _ => Vec::new(),
    }
}

fn ip_errors(field: &str, address: &str, is_v4: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let ip = match parse(address) {
        Ok(ip) => ip,
        Err(why) => {
            errors.invalid(field, address, why);
            return errors;
        }
    };
    if ip.is_ipv4() != is_v4 {
        let family = if is_v4 { "IPv4" } else { "IPv6" };
        errors.invalid(field, address, &format!("must be an {family} address"));
    }
    let special = [
        (
            ip.is_unspecified(),
            format!("may not be unspecified ({address})"),
        ),
        (
            // Pods that serve on this machine are endpoints, too.
            ip.is_loopback() && !is_local_pod(ip),
            "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned(),
        ),
        (
            is_link_local(ip),
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned(),
        ),
        (
            is_link_local_multicast(ip),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned(),
        ),
    ];
    for (applies, why) in special {
        if applies {
            errors.invalid(field, address, &why);
        }
    }
    errors
}

/// The error is the message of Kubernetes.
fn parse(address: &str) -> Result<IpAddr, &'static str> {
    match address.parse() {
        Ok(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Err("must not be an IPv4-mapped IPv6 address")
        }
        Ok(ip) => Ok(ip),
        Err(_) if has_leading_zeros(address) => Err("must not have leading 0s"),
        Err(_) => Err("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
    }
}

/// Whether this is an IPv4 address but for zeros before its numbers, which some programs read as octal.
fn has_leading_zeros(address: &str) -> bool {
    let plain = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        digits => digits.to_owned(),
    };
    let parts: Vec<String> = address.split('.').map(plain).collect();
    parts.join(".").parse::<Ipv4Addr>().is_ok()
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => matches!(ip.octets(), [224, 0, 0, _]),
        IpAddr::V6(ip) => matches!(ip.octets(), [0xff, scope, ..] if scope & 0x0f == 2),
    }
}

/// At least two labels; a final dot is not part of the name.
fn domain_errors(field: &str, address: &str) -> Vec<FieldError> {
    let name = address.strip_suffix('.').unwrap_or(address);
    let mut errors = Vec::new();
    let whole = subdomain_messages(name);
    if address.is_empty() {
        errors.required(field, "");
    } else if !whole.is_empty() {
        errors.invalid(field, name, &whole.join(","));
    } else if !name.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.invalid(field, name, why);
    } else {
        let labels = name.split('.').map(|label| (label, label_messages(label)));
        let wrong = labels.into_iter().find(|(_, why)| !why.is_empty());
        errors.extend(
            wrong.map(|(label, why)| {
                FieldError::invalid(field, &Value::from(label), &why.join(","))
            }),
        );
    }
    errors
}

/// A warning about an IPv6 address that is not in canonical form.
pub(super) fn address_warning(field: &str, address: &str) -> Option<String> {
    let canonical = address.parse::<Ipv6Addr>().ok()?.to_string();
    (canonical != address).then(|| {
        format!(
            "{field}: IPv6 address {address:?} should be in RFC 5952 canonical format ({canonical:?})"
        )
    })
}
