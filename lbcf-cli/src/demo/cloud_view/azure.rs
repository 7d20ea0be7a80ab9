//! The Azure-like cloud in lines of text, and what is in effect in it.

use super::target::ip_of;
use crate::demo::maps::in_words;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::azure::{
    AzureState, Frontend, LoadBalancingRule, ResourceId, SecurityRule, SharedLoadBalancer,
};

/// The most backends of a pool that are listed.
const BACKENDS_SHOWN: usize = 3;

pub(super) fn describe(state: &AzureState) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, it) in &state.load_balancers {
        lines.extend(load_balancer(id, &it.resource));
    }
    for (id, it) in &state.public_ips {
        let owner = it.resource.tags.get("service");
        let owner = owner.map_or("nobody", String::as_str);
        let address = &it.resource.address;
        let name = short(&id.name);
        let label = it.resource.dns_label.as_ref();
        let label = label.map_or(String::new(), |label| format!(", DNS label {label}"));
        lines.push(format!("public IP {name}  {address} of {owner}{label}"));
    }
    for (id, rule) in security_rules(state) {
        let to: Vec<_> = rule.destinations.iter().map(String::as_str).collect();
        lines.push(format!(
            "security rule {} of {}  {} to {} {} of {}",
            rule.priority,
            id.name,
            rule.source,
            rule.protocol,
            rule.port,
            to.join(", ")
        ));
    }
    lines
}

fn load_balancer(id: &ResourceId, it: &SharedLoadBalancer) -> Vec<String> {
    let mut lines = vec![format!("load balancer {}", id.name)];
    for (name, pool) in &it.pools {
        let name_shown = short(name);
        if let Some(frontend) = it.frontends.get(name) {
            let from = match (&frontend.public_ip, &frontend.subnet) {
                (Some(id), _) => format!("public IP {}", short(&id.name)),
                (None, Some(subnet)) => format!("subnet {subnet}"),
                (None, None) => "nowhere".to_owned(),
            };
            lines.push(format!(
                "  frontend {name_shown}  {} by {from}",
                frontend.address
            ));
        }
        if let Some(rule) = it.rules.get(name) {
            lines.push(format!(
                "  rule {name_shown}  {} {} to its pool, idle connections end after {} min",
                rule.protocol, rule.port, rule.idle_timeout_minutes
            ));
        }
        let members = pool.members.iter().map(|(addr, member)| {
            let parameters = in_words(&member.parameters);
            format!("{} {parameters}", ip_of(addr))
        });
        let mut members: Vec<String> = members.take(BACKENDS_SHOWN).collect();
        let more = pool.members.len().saturating_sub(BACKENDS_SHOWN);
        if more > 0 {
            members.push(format!("{more} more"));
        }
        let members = match members.is_empty() {
            true => "empty".to_owned(),
            false => members.join(", "),
        };
        lines.push(format!("  pool {name_shown}  {members}"));
    }
    lines
}

/// The attributes of each rule, as the resources have them.
pub(super) fn attributes(state: &AzureState) -> Vec<StringMap> {
    let all = state.load_balancers.values();
    all.flat_map(|it| {
        let frontends = it.resource.frontends.iter();
        frontends.filter_map(|(name, frontend)| {
            Some(of_frontend(state, frontend, it.resource.rules.get(name)?))
        })
    })
    .collect()
}

fn of_frontend(state: &AzureState, frontend: &Frontend, rule: &LoadBalancingRule) -> StringMap {
    let admits = |it: &&SecurityRule| it.destinations.contains(&frontend.address);
    let rules = security_rules(state).map(|(_, rule)| rule);
    let sources: Vec<_> = rules.filter(admits).map(|it| it.source.as_str()).collect();
    let public_ip = frontend.public_ip.as_ref();
    let public_ip = public_ip.and_then(|id| state.public_ips.get(id));
    let label = public_ip.and_then(|it| it.resource.dns_label.clone());
    let minutes = rule.idle_timeout_minutes;
    let attributes = [
        ("azure-allowed-service-tags", sources.join(", ")),
        (
            "azure-load-balancer-internal",
            frontend.public_ip.is_none().to_string(),
        ),
        ("azure-dns-label-name", label.unwrap_or_default()),
        ("azure-load-balancer-tcp-idle-timeout", minutes.to_string()),
    ];
    attributes
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

/// The resources that services have left.
pub(super) fn left_behind(state: &AzureState) -> Vec<String> {
    let load_balancers = state.load_balancers.keys();
    let load_balancers = load_balancers.map(|id| format!("cloud: load balancer {id}"));
    let public_ips = state.public_ips.keys();
    let public_ips = public_ips.map(|id| format!("cloud: public IP {id}"));
    let rules = security_rules(state);
    let rules = rules.map(|(id, rule)| format!("cloud: security rule {} of {id}", rule.priority));
    load_balancers.chain(public_ips).chain(rules).collect()
}

fn security_rules(state: &AzureState) -> impl Iterator<Item = (&ResourceId, &SecurityRule)> {
    let groups = state.security_groups.iter();
    groups.flat_map(|(id, group)| group.resource.rules.values().map(move |rule| (id, rule)))
}

/// Names are hashes: their beginning tells them apart.
fn short(name: &str) -> &str {
    name.get(..8).unwrap_or(name)
}
