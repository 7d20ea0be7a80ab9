//! The load balancers with their listeners, rules and backends, and what these serve.

use super::azure;
use super::table::{SHOWN, more, table};
use crate::cloud::Cloud;
use crate::resources::{
    ListenerState, LoadBalancerState, LoadBalancerType, RuleState, TargetGroupState, TargetState,
};
use crate::traffic::{BackendTraffic, ListenerTraffic, LoadBalancerTraffic};
use lbcf_driver_sdk::webhook::StringMap;
use maud::{Markup, html};

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
        (more_in_state(load_balancers.len()))
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
    served: ServedListener<'_>,
    rule: Option<&RuleState>,
) -> Markup {
    let draining = served.draining(rule);
    let caption = html! {
        (name)
        @if !group.attributes.is_empty() {
            span .about { " " (pairs(&group.attributes)) }
        }
    };
    let rows = html! {
        @if group.targets.is_empty() && draining.is_empty() {
            tr { td .about { "no backends" } }
        }
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
    };
    let heads: &[&str] = match served {
        _ if group.targets.is_empty() && draining.is_empty() => &[],
        ServedListener(None) => &["Backend", "Weight", "Bound by"],
        ServedListener(Some(_)) => &["Backend", "Weight", "Open", "Served", "Failed", "Bound by"],
    };
    html! {
        (table(Some(&caption), heads, &rows))
        (more_in_state(group.targets.len()))
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

fn more_in_state(count: usize) -> Markup {
    more(count, SHOWN, "/_mock/state", "the state")
}

fn pairs(map: &StringMap) -> Markup {
    html! {
        @for (key, value) in map {
            code { (key) "=" (value) } " "
        }
    }
}

/// The traffic of a load balancer; none without `--traffic`.
#[derive(Clone, Copy)]
struct Served<'a>(Option<&'a LoadBalancerTraffic>);

/// The traffic of a listener.
#[derive(Clone, Copy)]
struct ServedListener<'a>(Option<&'a ListenerTraffic>);

impl<'a> Served<'a> {
    const fn of(traffic: Option<&'a LoadBalancerTraffic>) -> Self {
        Self(traffic)
    }

    fn listener(self, id: &str) -> ServedListener<'a> {
        let mut listeners = self.0.into_iter().flat_map(|it| &it.listeners);
        ServedListener(listeners.find(|it| it.id == id))
    }
}

impl<'a> ServedListener<'a> {
    /// Where it listens, or why it does not.
    fn place(self) -> Markup {
        html! {
            @if let Some(listener) = self.0 {
                @if let Some(addr) = listener.listens { " · at " code { (addr) } }
                @if let Some(error) = &listener.error { " · " span .bad { (error) } }
            }
        }
    }

    /// The counts of a bound backend.
    fn bound(self, addr: &str, rule: Option<&RuleState>) -> Markup {
        let is_it = |it: &&BackendTraffic| it.addr == addr && it.weight.is_some();
        self.cells(self.backends(rule).find(is_it), rule)
    }

    /// The counts of a backend.
    fn cells(self, backend: Option<&BackendTraffic>, rule: Option<&RuleState>) -> Markup {
        html! {
            @if let Some(listener) = self.0 {
                @match backend {
                    Some(backend) => {
                        @let served = backend.counts.requests.max(backend.counts.connections);
                        td { (backend.counts.open) }
                        td #{ "served-" (listener.id) "-" (place(rule)) "-" (backend.addr) } data-count=(served) {
                            (served) span .rate { }
                        }
                        td {
                            (backend.counts.failed)
                            @if let Some(error) = &backend.error { " " span .bad { (error) } }
                        }
                    }
                    None => { td { } td { } td { } }
                }
            }
        }
    }

    /// The backends that are unbound and still have something open.
    fn draining(self, rule: Option<&RuleState>) -> Vec<&'a BackendTraffic> {
        self.backends(rule)
            .filter(|it| it.weight.is_none())
            .collect()
    }

    fn backends(self, rule: Option<&RuleState>) -> impl Iterator<Item = &'a BackendTraffic> {
        let backends = self.0.into_iter().flat_map(|it| &it.backends);
        backends.filter(move |it| {
            let (domain, url) = (it.domain.as_deref(), it.url.as_deref());
            rule.is_none_or(|rule| domain == Some(&*rule.domain) && url == Some(&*rule.url))
        })
    }
}

fn place(rule: Option<&RuleState>) -> String {
    rule.map(|rule| format!("{}{}", rule.domain, rule.url))
        .unwrap_or_default()
}
