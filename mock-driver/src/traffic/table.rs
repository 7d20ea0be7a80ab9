//! The listeners that should run, read from the cloud's state, and how they differ from what
//! is running.

use crate::resources::{CloudState, ListenerProtocol, ListenerState, Rule, TargetGroupState};
use std::collections::{BTreeMap, BTreeSet};

/// Identifies a listener.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListenerKey {
    pub(super) load_balancer: String,
    pub(super) listener: String,
}

/// The specification of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListenerSpec {
    pub(super) protocol: ListenerProtocol,
    pub(super) port: u16,
    /// The targets by rule; of TCP and UDP listeners, all are those of [`any`](any_rule).
    pub(super) groups: BTreeMap<Rule, Targets>,
}

/// Weights by address.
pub(super) type Targets = BTreeMap<String, u8>;

/// All listeners.
pub(super) type Table = BTreeMap<ListenerKey, ListenerSpec>;

/// The rule of what is not forwarded by rules.
pub(super) fn any_rule() -> Rule {
    Rule::new(None, None)
}

/// The listeners that should run.
pub(super) fn table(state: &CloudState) -> Table {
    let mut table = Table::new();
    for load_balancer in &state.load_balancers {
        for listener in &load_balancer.listeners {
            let key = ListenerKey {
                load_balancer: load_balancer.id.clone(),
                listener: listener.id.clone(),
            };
            let spec = ListenerSpec {
                protocol: listener.protocol,
                port: listener.port,
                groups: groups(listener),
            };
            table.insert(key, spec);
        }
    }
    table
}

fn groups(listener: &ListenerState) -> BTreeMap<Rule, Targets> {
    let groups = listener.groups();
    groups
        .map(|(rule, group)| (rule.unwrap_or_else(any_rule), weights(group)))
        .collect()
}

fn weights(group: &TargetGroupState) -> Targets {
    let targets = group.targets.iter();
    targets.map(|it| (it.addr.clone(), it.weight)).collect()
}

/// The steps from the listeners that run to those that should.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// To be closed, before others are opened: they may have the same port.
    pub(super) close: BTreeSet<ListenerKey>,
    pub(super) open: BTreeSet<ListenerKey>,
}

/// Compares the listeners that are running, with protocol and port, with those that should.
pub(super) fn changes<'a>(
    running: impl Iterator<Item = (&'a ListenerKey, (ListenerProtocol, u16))>,
    desired: &Table,
) -> Changes {
    let mut open: BTreeSet<_> = desired.keys().cloned().collect();
    let mut close = BTreeSet::new();
    for (key, (protocol, port)) in running {
        match desired.get(key) {
            Some(spec) if (spec.protocol, spec.port) == (protocol, port) => _ = open.remove(key),
            _ => _ = close.insert(key.clone()),
        }
    }
    Changes { close, open }
}

/// The rule for a request: first by domain, then by path, as nginx and the clouds that are built on
/// it choose. The domain is the exact one, else the longest pattern such as `*.example.com` that
/// fits, else any; of that domain's rules the longest path that the request's path begins with,
/// segment by segment. Without one there is no rule: other domains are not considered.
pub(super) fn route<'a>(
    rules: impl Iterator<Item = &'a Rule> + Clone,
    host: &str,
    path: &str,
) -> Option<&'a Rule> {
    let domain = rules
        .clone()
        .filter_map(|rule| Some((fits_domain(&rule.domain, host)?, &rule.domain)))
        .max_by_key(|(rank, _)| *rank)?
        .1;
    rules
        .filter(|rule| rule.domain == *domain && fits_path(&rule.url, path))
        .max_by_key(|rule| rule.url.len())
}

/// The rank of a domain that fits: the closer, the higher.
fn fits_domain(domain: &str, host: &str) -> Option<usize> {
    if domain == Rule::ANY_DOMAIN {
        return Some(0);
    }
    if domain.eq_ignore_ascii_case(host) {
        return Some(usize::MAX);
    }
    let suffix = domain.strip_prefix('*').filter(|it| it.starts_with('.'))?;
    let at = host.len().checked_sub(suffix.len()).filter(|at| *at > 0)?;
    let fits = host.get(at..)?.eq_ignore_ascii_case(suffix);
    fits.then_some(suffix.len())
}

fn fits_path(url: &str, path: &str) -> bool {
    let url = url.strip_suffix('/').unwrap_or(url);
    let rest = path.strip_prefix(url);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cloud, LoadBalancerType, NewLoadBalancer, Target};
    use lbcf_driver_sdk::webhook::StringMap;
    use std::time::Duration;

    fn key(load_balancer: &str, listener: &str) -> ListenerKey {
        ListenerKey {
            load_balancer: load_balancer.into(),
            listener: listener.into(),
        }
    }

    #[test]
    fn the_table_has_every_listener_with_its_weights() {
        let cloud = Cloud::empty();
        let desired = NewLoadBalancer {
            vpc: "vpc-1".into(),
            kind: LoadBalancerType::Open,
            protocol: ListenerProtocol::Http,
            port: 80,
            rule: Some(Rule::new(Some("a.example"), Some("/shop"))),
        };
        let created = cloud.create("t", desired, StringMap::new(), Duration::ZERO);
        let crate::Creation::Done(endpoint) = created.unwrap() else {
            panic!("not created")
        };
        let target = Target {
            weight: 7,
            parameters: StringMap::new(),
            record_id: None,
        };
        cloud.bind(&endpoint, "127.0.0.1:1", target).unwrap();
        let table = table(&cloud.state());
        let spec = &table[&key("lb-00000001", "lbl-00000001")];
        assert_eq!((spec.protocol, spec.port), (ListenerProtocol::Http, 80));
        let rule = Rule::new(Some("a.example"), Some("/shop"));
        let targets = Targets::from([("127.0.0.1:1".to_owned(), 7)]);
        assert_eq!(spec.groups, BTreeMap::from([(rule, targets)]));
        assert_eq!(changes(std::iter::empty(), &table).open.len(), 1);
    }

    #[test]
    fn only_what_differs_is_closed_and_opened() {
        let desired = table(&Cloud::with_samples().state());
        let same = desired
            .iter()
            .map(|(key, spec)| (key, (spec.protocol, spec.port)));
        assert_eq!(changes(same, &desired), Changes::default());
        let (foo, gone) = (key("lb-foo", "lsn-foo"), key("lb-gone", "lsn"));
        let other_port = (ListenerProtocol::Tcp, 81);
        let running = [(&foo, other_port), (&gone, other_port)];
        let changes = changes(running.into_iter(), &desired);
        assert_eq!(changes.close, BTreeSet::from([foo, gone]));
        assert_eq!(changes.open.len(), 3);
    }

    fn routed(rules: &[(&str, &str)], host: &str, path: &str) -> Option<String> {
        let rules: Vec<_> = rules
            .iter()
            .map(|(domain, url)| Rule::new(Some(domain), Some(url)))
            .collect();
        route(rules.iter(), host, path).map(ToString::to_string)
    }

    #[test]
    fn the_longest_path_of_the_closest_domain_is_chosen() {
        let rules = [
            ("*", "/"),
            ("*.example.com", "/"),
            ("*.eu.example.com", "/"),
            ("www.example.com", "/"),
            ("www.example.com", "/shop"),
            ("www.example.com", "/shop/cart/"),
        ];
        for (host, path, expected) in [
            ("other", "/x", "*/"),
            ("example.com", "/", "*/"),
            ("API.example.com", "/", "*.example.com/"),
            ("a.eu.example.com", "/", "*.eu.example.com/"),
            ("WWW.Example.com", "/", "www.example.com/"),
            ("www.example.com", "/shop", "www.example.com/shop"),
            ("www.example.com", "/shop/x", "www.example.com/shop"),
            ("www.example.com", "/shopping", "www.example.com/"),
            (
                "www.example.com",
                "/shop/cart/1",
                "www.example.com/shop/cart/",
            ),
        ] {
            let routed = routed(&rules, host, path);
            assert_eq!(routed.as_deref(), Some(expected), "{host}{path}");
        }
    }

    #[test]
    fn a_domain_without_the_path_does_not_fall_back_to_another() {
        let rules = [("*", "/"), ("a.example", "/shop")];
        assert_eq!(routed(&rules, "a.example", "/"), None);
        assert_eq!(routed(&[("a.example", "/")], "b.example", "/"), None);
        assert_eq!(routed(&[("*.é.example", "/")], "xé.example", "/"), None);
    }
}
