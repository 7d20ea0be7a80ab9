//! The load balancers with their listeners, rules and backends, and what these serve.

mod served;

use super::azure;
use crate::cloud::Cloud;
use crate::resources::{
    ListenerState, LoadBalancerState, LoadBalancerType, RuleState, TargetGroupState, TargetState,
};
use lbcf_driver_sdk::webhook::StringMap;
use maud::{Markup, html};
use served::Served;

/// How many backends of one endpoint, and how many load balancers, the page shows; `/_mock/state` has all.
const SHOWN: usize = 200;

pub(super) fn list(cloud: &Cloud) -> Markup {
    if cloud.is_azure() {
        return azure::list(cloud);
    }
    let load_balancers = cloud.state().load_balancers;
    let traffic = cloud.traffic();
    html! {
        @if load_balancers.is_empty() {
            p { "The cloud has no load balancer yet. Create a LoadBalancer whose driver is this one." }
        }
        @for load_balancer in load_balancers.iter().take(SHOWN) {
            (show(load_balancer, Served::of(traffic.get(&load_balancer.id))))
        }
        (more(load_balancers.len()))
    }
}

fn show(load_balancer: &LoadBalancerState, served: Served<'_>) -> Markup {
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
                (show_listener(listener, served))
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

fn show_listener(listener: &ListenerState, served: Served<'_>) -> Markup {
    let served = served.listener(&listener.id);
    let name = html! {
        (listener.protocol) " " (listener.port) " · " (listener.id) (served.place())
    };
    html! {
        @if let Some(group) = &listener.targets {
            (show_group(&name, group, served, None))
        }
        @for rule in listener.rules.iter().flatten() {
            @let name = html! { (name) " · " (rule.domain) (rule.url) };
            (show_group(&name, &rule.targets, served, Some(rule)))
        }
    }
}

fn show_group(
    name: &Markup,
    group: &TargetGroupState,
    served: served::Listener<'_>,
    rule: Option<&RuleState>,
) -> Markup {
    let draining = served.draining(rule);
    html! {
        div .scroll {
            table {
                caption {
                    (name)
                    @if !group.attributes.is_empty() {
                        span .about { " " (pairs(&group.attributes)) }
                    }
                }
                @if group.targets.is_empty() && draining.is_empty() {
                    tbody { tr { td .about { "no backends" } } }
                } @else {
                    thead { tr { th { "Backend" } th { "Weight" } (served.heads()) th { "Bound by" } } }
                    tbody {
                        @for target in group.targets.iter().take(SHOWN) {
                            (show_target(target, &served.bound(&target.addr, rule)))
                        }
                        @for backend in draining.iter().take(SHOWN) {
                            tr .off {
                                th scope="row" { (backend.addr) }
                                td .running { "draining" }
                                (served.cells(Some(backend), rule))
                                td { }
                            }
                        }
                    }
                }
            }
        }
        (more(group.targets.len()))
    }
}

fn show_target(target: &TargetState, served: &Markup) -> Markup {
    html! {
        tr .off[target.weight == 0] {
            th scope="row" { (target.addr) }
            td {
                meter min="0" max="100" value=(target.weight) {}
                " " (target.weight)
            }
            (served)
            td {
                @match &target.record_id {
                    Some(record) => code { (record) },
                    None => "a user, by hand",
                }
            }
        }
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
