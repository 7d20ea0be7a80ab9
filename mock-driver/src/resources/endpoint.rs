//! Endpoints for clients: a listener, or one forwarding rule of an HTTP or HTTPS listener. LBCF
//! calls it a load balancer and registers backends to it.

use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies one listener, or one forwarding rule of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The ID of the CLB instance.
    pub load_balancer: String,
    /// The ID of the listener.
    pub listener: String,
    /// The rule's domain; without it, [`Rule::ANY_DOMAIN`] on HTTP and HTTPS listeners.
    pub domain: Option<String>,
    /// The rule's path; without it, [`Rule::ROOT`] on HTTP and HTTPS listeners.
    pub url: Option<String>,
}

impl Endpoint {
    pub(crate) fn new(load_balancer: &str, listener: &str, rule: Option<&Rule>) -> Self {
        Self {
            load_balancer: load_balancer.to_owned(),
            listener: listener.to_owned(),
            domain: rule.map(|rule| rule.domain.clone()),
            url: rule.map(|rule| rule.url.clone()),
        }
    }

    /// The forwarding rule, if the listener has rules.
    #[must_use]
    pub fn rule(&self) -> Rule {
        Rule::new(self.domain.as_deref(), self.url.as_deref())
    }

    /// The identity as `lbInfo`: `lbID`, `lblID`, and for a rule `domain` and `url`.
    #[must_use]
    pub fn lb_info(&self) -> StringMap {
        let fields = [
            ("lbID", Some(&self.load_balancer)),
            ("lblID", Some(&self.listener)),
            ("domain", self.domain.as_ref()),
            ("url", self.url.as_ref()),
        ];
        fields
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.clone())))
            .collect()
    }
}

/// A forwarding rule: the requests of an HTTP or HTTPS listener that go to the same targets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// The domain of the requests; `*` is any.
    pub domain: String,
    /// The path of the requests; starts with a slash.
    pub url: String,
}

impl Rule {
    /// The domain of a rule for requests to any domain.
    pub const ANY_DOMAIN: &'static str = "*";
    /// The path of a rule for requests to any path.
    pub const ROOT: &'static str = "/";

    /// A rule, with the defaults for what is not given.
    #[must_use]
    pub fn new(domain: Option<&str>, url: Option<&str>) -> Self {
        Self {
            domain: domain.unwrap_or(Self::ANY_DOMAIN).to_owned(),
            url: url.unwrap_or(Self::ROOT).to_owned(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.domain, self.url)
    }
}

/// The protocol of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ListenerProtocol {
    /// Forwards connections to targets.
    Tcp,
    /// Forwards datagrams to targets.
    Udp,
    /// Forwards requests by rules.
    Http,
    /// Terminates TLS and forwards requests by rules.
    Https,
}

impl ListenerProtocol {
    /// All protocols, in the order of their declaration.
    pub(crate) const ALL: [Self; 4] = [Self::Tcp, Self::Udp, Self::Http, Self::Https];

    /// The name in capitals, as in `lbListenerProtocol`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Http => "HTTP",
            Self::Https => "HTTPS",
        }
    }

    /// True if listeners with this protocol forward by rules.
    #[must_use]
    pub const fn has_rules(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// True if listeners with these protocols cannot share a port: all but UDP run over TCP.
    #[must_use]
    pub const fn collides_with(self, other: Self) -> bool {
        matches!(self, Self::Udp) == matches!(other, Self::Udp)
    }
}

impl fmt::Display for ListenerProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// From where a CLB instance can be reached.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum LoadBalancerType {
    /// From the internet, `OPEN`.
    #[default]
    Open,
    /// From its own network, `INTERNAL`.
    Internal,
}
