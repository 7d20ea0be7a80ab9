//! The rules that admit clients to a service. Several services may share one: an
//! augmented rule, which has the addresses of all of them.

use super::Service;
use crate::azure::naming::Side;
use crate::resources::azure::{SecurityGroup, SecurityRule};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::{BTreeMap, BTreeSet};

/// The first priority of a rule; those before are for the users of the cloud.
const FIRST_PRIORITY: u16 = 500;
/// Begins the names of rules that services share.
const SHARED: &str = "shared-";

/// With the rules of a service that is reached at this address, and of the service no others.
pub(in crate::azure) fn present(
    service: &Service,
    address: &str,
    mut group: SecurityGroup,
) -> SecurityGroup {
    let desired = sources_by_rule(service);
    remove(&mut group, &service.frontend, &[address], |name| {
        desired.contains_key(name)
    });
    for (name, source) in desired {
        let kept = group.rules.get(&name).map(|rule| rule.priority);
        let priority = kept.unwrap_or_else(|| free_priority(&group));
        let shared = name.starts_with(SHARED);
        let found = group.rules.remove(&name).filter(|_| shared);
        let mut destinations = found.map(|rule| rule.destinations).unwrap_or_default();
        destinations.insert(address.to_owned());
        let rule = SecurityRule {
            priority,
            source,
            destinations,
            protocol: Protocol::from(service.spec.protocol),
            port: service.spec.port.get(),
        };
        group.rules.insert(name, rule);
    }
    group
}

/// Without the rules of a service that is, or was, reached at these addresses.
pub(in crate::azure) fn absent(
    frontend: &str,
    addresses: &[&str],
    mut group: SecurityGroup,
) -> SecurityGroup {
    remove(&mut group, frontend, addresses, |_| false);
    group
}

/// The source of each rule that a service needs, by the rule's name.
fn sources_by_rule(service: &Service) -> BTreeMap<String, String> {
    let spec = &service.spec;
    let owner = match service.attributes.azure_shared_securityrule {
        Some(true) => SHARED.to_owned(),
        _ => format!("{}-", service.frontend),
    };
    let anyone = match service.side() {
        Side::Public => "Internet",
        Side::Internal => "VirtualNetwork",
    };
    let allowed = service.attributes.allowed_tags();
    let sources = if allowed.is_empty() {
        vec![anyone]
    } else {
        allowed
    };
    let name = |source: &str| {
        let protocol = Protocol::from(spec.protocol);
        format!("{owner}{protocol}-{}-{source}", spec.port)
    };
    let sources = sources.into_iter();
    sources
        .map(|source| (name(source), source.to_owned()))
        .collect()
}

/// Removes the rules of a service, and its addresses from those that it shares, unless they are kept.
fn remove(
    group: &mut SecurityGroup,
    frontend: &str,
    addresses: &[&str],
    keeps: impl Fn(&str) -> bool,
) {
    let own = format!("{frontend}-");
    group.rules.retain(|name, rule| {
        if keeps(name) {
            return true;
        }
        if name.starts_with(SHARED) {
            for address in addresses {
                rule.destinations.remove(*address);
            }
        }
        !name.starts_with(&own) && !rule.destinations.is_empty()
    });
}

fn free_priority(group: &SecurityGroup) -> u16 {
    let taken: BTreeSet<u16> = group.rules.values().map(|rule| rule.priority).collect();
    let mut all = FIRST_PRIORITY..=u16::MAX;
    all.find(|priority| !taken.contains(priority))
        .unwrap_or(u16::MAX)
}
