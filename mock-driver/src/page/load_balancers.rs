//! The load balancers with their listeners, rules and backends.

use crate::cloud::{
    CloudState, ListenerState, LoadBalancerState, LoadBalancerType, TargetGroupState,
};
use lbcf_driver_sdk::webhook::StringMap;
use maud::{Markup, html};

/// How many backends of one endpoint, and how many load balancers, the page shows; `/_mock/state` has all.
const SHOWN: usize = 200;

pub(super) fn list(state: &CloudState) -> Markup {
    let load_balancers = &state.load_balancers;
    html! {
        @if load_balancers.is_empty() {
            p { "The cloud has no load balancer yet. Create a LoadBalancer whose driver is this one." }
        }
        @for load_balancer in load_balancers.iter().take(SHOWN) {
            (show(load_balancer))
        }
        (more(load_balancers.len()))
    }
}

fn show(load_balancer: &LoadBalancerState) -> Markup {
    html! {
        article {
            h3 { (load_balancer.id) }
            p .about {
                (reach(load_balancer.kind)) " in " (load_balancer.vpc)
                @if let Some(stage) = load_balancer.creating {
                    " · " strong .running { (stage) }
                }
                @if let Some(token) = &load_balancer.client_token {
                    " · created by " code { (token) }
                }
            }
            @for listener in &load_balancer.listeners {
                (show_listener(listener))
            }
        }
    }
}

const fn reach(kind: LoadBalancerType) -> &'static str {
    match kind {
        LoadBalancerType::Open => "open to the internet,",
        LoadBalancerType::Internal => "internal,",
    }
}

fn show_listener(listener: &ListenerState) -> Markup {
    let name = html! { (listener.protocol) " " (listener.port) " · " (listener.id) };
    html! {
        @if let Some(group) = &listener.targets {
            (show_group(&name, group))
        }
        @for rule in listener.rules.iter().flatten() {
            (show_group(&html! { (name) " · " (rule.domain) (rule.url) }, &rule.targets))
        }
    }
}

fn show_group(name: &Markup, group: &TargetGroupState) -> Markup {
    html! {
        div .scroll {
            table {
                caption {
                    (name)
                    @if !group.attributes.is_empty() {
                        span .about { " " (pairs(&group.attributes)) }
                    }
                }
                @if group.targets.is_empty() {
                    tbody { tr { td .about { "no backends" } } }
                } @else {
                    thead { tr { th { "Backend" } th { "Weight" } th { "Bound by" } } }
                    tbody {
                        @for target in group.targets.iter().take(SHOWN) {
                            tr .off[target.weight == 0] {
                                th scope="row" { (target.addr) }
                                td {
                                    meter min="0" max="100" value=(target.weight) {}
                                    " " (target.weight)
                                }
                                td {
                                    @match &target.record_id {
                                        Some(record) => code { (record) },
                                        None => "a user, by hand",
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        (more(group.targets.len()))
    }
}

fn more(count: usize) -> Markup {
    html! {
        @if let Some(rest @ 1..) = count.checked_sub(SHOWN) {
            p .about { "and " (rest) " more, in " a href="/_mock/state" { "the state" } }
        }
    }
}

fn pairs(map: &StringMap) -> Markup {
    html! {
        @for (key, value) in map {
            code { (key) "=" (value) } " "
        }
    }
}
