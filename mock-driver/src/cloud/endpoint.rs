//! What clients connect to: a listener, or one forward rule of an HTTP(S) listener. It is what
//! LBCF calls a load balancer, and what backends are registered to.

use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Names one listener, or one forward rule of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The CLB instance.
    pub load_balancer: String,
    /// Its listener.
    pub listener: String,
    /// The rule's domain; on HTTP(S) listeners absence means [`Rule::ANY_DOMAIN`].
    pub domain: Option<String>,
    /// The rule's path; on HTTP(S) listeners absence means [`Rule::ROOT`].
    pub url: Option<String>,
}

impl Endpoint {
    pub(super) fn new(load_balancer: &str, listener: &str, rule: Option<&Rule>) -> Self {
        Self {
            load_balancer: load_balancer.to_owned(),
            listener: listener.to_owned(),
            domain: rule.map(|rule| rule.domain.clone()),
            url: rule.map(|rule| rule.url.clone()),
        }
    }

    /// The rule that it names, where its listener has rules.
    #[must_use]
    pub fn rule(&self) -> Rule {
        Rule::new(self.domain.as_deref(), self.url.as_deref())
    }

    /// The identity as LBCF keeps it: `lbID`, `lblID`, and for a rule `domain` and `url`.
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

/// Which requests of an HTTP(S) listener go to the same targets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// The domain.
    pub domain: String,
    /// The path, which starts with a slash.
    pub url: String,
}

impl Rule {
    /// The domain that stands for every domain.
    pub const ANY_DOMAIN: &'static str = "*";
    /// The path that stands for every path.
    pub const ROOT: &'static str = "/";

    /// A rule from what was given of it.
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

/// What a listener speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ListenerProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// HTTP, by forward rules.
    Http,
    /// HTTPS, by forward rules.
    Https,
}

impl ListenerProtocol {
    const ALL: [Self; 4] = [Self::Tcp, Self::Udp, Self::Http, Self::Https];

    /// The name in capitals.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Http => "HTTP",
            Self::Https => "HTTPS",
        }
    }

    /// Whether its listeners forward by rules.
    #[must_use]
    pub const fn has_rules(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether both cannot listen on one port: all but UDP run over TCP.
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

/// A text that names nothing of what is allowed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("none of {0}")]
pub struct NoneOf(&'static str);

impl FromStr for ListenerProtocol {
    type Err = NoneOf;

    fn from_str(text: &str) -> Result<Self, NoneOf> {
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.as_str().eq_ignore_ascii_case(text))
            .ok_or(NoneOf("TCP, UDP, HTTP, HTTPS"))
    }
}

/// Who can reach a CLB instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LoadBalancerType {
    /// Everybody.
    #[default]
    Open,
    /// Its own network.
    Internal,
}

impl FromStr for LoadBalancerType {
    type Err = NoneOf;

    fn from_str(text: &str) -> Result<Self, NoneOf> {
        if text.eq_ignore_ascii_case("OPEN") {
            Ok(Self::Open)
        } else if text.eq_ignore_ascii_case("INTERNAL") {
            Ok(Self::Internal)
        } else {
            Err(NoneOf("OPEN, INTERNAL"))
        }
    }
}
