//! What a load balancer serves, with `--traffic`; nothing without it.

use crate::resources::RuleState;
use crate::traffic::{BackendTraffic, ListenerTraffic, LoadBalancerTraffic};
use maud::{Markup, html};

/// The traffic of a load balancer.
#[derive(Clone, Copy)]
pub(super) struct Served<'a>(Option<&'a LoadBalancerTraffic>);

/// The traffic of a listener.
#[derive(Clone, Copy)]
pub(super) struct Listener<'a>(Option<&'a ListenerTraffic>);

impl<'a> Served<'a> {
    pub(super) const fn of(traffic: Option<&'a LoadBalancerTraffic>) -> Self {
        Self(traffic)
    }

    pub(super) fn listener(self, id: &str) -> Listener<'a> {
        let mut listeners = self.0.into_iter().flat_map(|it| &it.listeners);
        Listener(listeners.find(|it| it.id == id))
    }
}

impl<'a> Listener<'a> {
    /// Where it listens, or why it does not.
    pub(super) fn place(self) -> Markup {
        html! {
            @if let Some(listener) = self.0 {
                @if let Some(addr) = listener.listens { " · at " code { (addr) } }
                @if let Some(error) = &listener.error { " · " span .bad { (error) } }
            }
        }
    }

    pub(super) fn heads(self) -> Markup {
        html! {
            @if self.0.is_some() {
                th { "Open" } th { "Served" } th { "Failed" }
            }
        }
    }

    /// The counts of a bound backend, below [`heads`](Self::heads).
    pub(super) fn bound(self, addr: &str, rule: Option<&RuleState>) -> Markup {
        let is_it = |it: &&BackendTraffic| it.addr == addr && it.weight.is_some();
        self.cells(self.backends(rule).find(is_it), rule)
    }

    /// The counts of a backend, below [`heads`](Self::heads).
    pub(super) fn cells(
        self,
        backend: Option<&BackendTraffic>,
        rule: Option<&RuleState>,
    ) -> Markup {
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
    pub(super) fn draining(self, rule: Option<&RuleState>) -> Vec<&'a BackendTraffic> {
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
