//! The resources of a cloud with the profile `azure`: shared load balancers with frontends and pools,
//! public IPs, and what the security group admits.

use super::table::{SHOWN, table};
use crate::cloud::Cloud;
use crate::resources::azure::{AzureState, Pool, ResourceId, SecurityRule, SharedLoadBalancer};
use maud::{Markup, html};

pub(super) fn list(cloud: &Cloud) -> Markup {
    let state = cloud.state().azure.unwrap_or_default();
    html! {
        @if state.load_balancers.is_empty() {
            p { "The cloud has no load balancer yet. Create a LoadBalancer whose driver is this one." }
        }
        @for (id, load_balancer) in state.load_balancers.iter().take(SHOWN) {
            (show(id, &load_balancer.resource))
        }
        (public_ips(&state))
        @for (id, group) in &state.security_groups {
            (rules(id, group.resource.rules.iter()))
        }
    }
}

fn show(id: &ResourceId, it: &SharedLoadBalancer) -> Markup {
    html! {
        article {
            h3 { (id) }
            p .about { (it.frontends.len()) " frontends, " (it.rules.len()) " rules" }
            @for (name, pool) in it.pools.iter().take(SHOWN) { (show_pool(it, name, pool)) }
        }
    }
}

fn show_pool(load_balancer: &SharedLoadBalancer, name: &str, pool: &Pool) -> Markup {
    let frontend = load_balancer.frontends.get(name);
    let caption = html! {
        @if let Some(rule) = load_balancer.rules.get(name) {
            (rule.protocol) " " (rule.port) " · "
        }
        (frontend.map(|frontend| frontend.address.as_str()).unwrap_or_default())
        span .about { " " (name) }
    };
    let rows = html! {
        @if pool.members.is_empty() {
            tr { td .about { "no backends" } }
        }
        @for (address, member) in pool.members.iter().take(SHOWN) {
            tr {
                th scope="row" { (address) }
                td .about { (member.record_id.as_deref().unwrap_or("bound by hand")) }
            }
        }
    };
    table(Some(&caption), &[], &rows)
}

fn public_ips(state: &AzureState) -> Markup {
    if state.public_ips.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for (id, it) in state.public_ips.iter().take(SHOWN) {
            tr {
                th scope="row" { (id) }
                td { (it.resource.address) }
                td { (it.resource.dns_label.as_deref().unwrap_or_default()) }
                td { (it.resource.tags.get("service").map(String::as_str).unwrap_or_default()) }
            }
        }
    };
    let heads = &["Name", "Address", "DNS label", "Service"];
    table(Some(&"Public IPs"), heads, &rows)
}

fn rules<'a>(
    id: &ResourceId,
    rules: impl Iterator<Item = (&'a String, &'a SecurityRule)>,
) -> Markup {
    let rows = html! {
        @for (name, rule) in rules.take(SHOWN) {
            tr {
                th scope="row" { (rule.priority) " " (name) }
                td { (rule.source) }
                td { (rule.protocol) " " (rule.port) }
                td { (Vec::from_iter(rule.destinations.iter().map(String::as_str)).join(", ")) }
            }
        }
    };
    let heads = &["Rule", "Source", "Port", "Destinations"];
    table(Some(&format!("Security group {id}")), heads, &rows)
}
