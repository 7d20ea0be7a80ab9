//! The resources of a cloud with the profile `azure`: shared load balancers with frontends and pools,
//! public IPs, and what the security group admits.

use crate::cloud::Cloud;
use crate::resources::azure::{AzureState, ResourceId, SecurityRule, SharedLoadBalancer};
use maud::{Markup, html};

/// How many rows of one table the page shows; `/_mock/state` has all.
const SHOWN: usize = 200;

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
            @for (name, pool) in it.pools.iter().take(SHOWN) {
                div .scroll {
                    table {
                        caption {
                            @if let Some(rule) = it.rules.get(name) {
                                (rule.protocol) " " (rule.port) " · "
                            }
                            (it.frontends.get(name).map(|frontend| frontend.address.as_str()).unwrap_or_default())
                            span .about { " " (name) }
                        }
                        tbody {
                            @if pool.members.is_empty() {
                                tr { td .about { "no backends" } }
                            }
                            @for (address, member) in pool.members.iter().take(SHOWN) {
                                tr {
                                    th scope="row" { (address) }
                                    td .about {
                                        (member.record_id.as_deref().unwrap_or("bound by hand"))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn public_ips(state: &AzureState) -> Markup {
    html! {
        @if !state.public_ips.is_empty() {
            div .scroll {
                table {
                    caption { "Public IPs" }
                    thead { tr { th { "Name" } th { "Address" } th { "DNS label" } th { "Service" } } }
                    tbody {
                        @for (id, it) in state.public_ips.iter().take(SHOWN) {
                            tr {
                                th scope="row" { (id) }
                                td { (it.resource.address) }
                                td { (it.resource.dns_label.as_deref().unwrap_or_default()) }
                                td { (it.resource.tags.get("service").map(String::as_str).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rules<'a>(
    id: &ResourceId,
    rules: impl Iterator<Item = (&'a String, &'a SecurityRule)>,
) -> Markup {
    html! {
        div .scroll {
            table {
                caption { "Security group " (id) }
                thead { tr { th { "Rule" } th { "Source" } th { "Port" } th { "Destinations" } } }
                tbody {
                    @for (name, rule) in rules.take(SHOWN) {
                        tr {
                            th scope="row" { (rule.priority) " " (name) }
                            td { (rule.source) }
                            td { (rule.protocol) " " (rule.port) }
                            td { (Vec::from_iter(rule.destinations.iter().map(String::as_str)).join(", ")) }
                        }
                    }
                }
            }
        }
    }
}
