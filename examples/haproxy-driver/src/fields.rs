//! The fields that users write, as types: a value that does not fit is refused by the validations
//! with the field, the value and what is allowed, before any other code sees it.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// `spec.lbSpec` of a LoadBalancer: where HAProxy listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LbSpec {
    /// A local address of HAProxy's machine; all IPv4 addresses by default.
    #[serde(default = "any_address")]
    pub address: IpAddr,
    /// The port, 1 to 65535.
    pub port: Number<1, 65535>,
    /// What HAProxy understands of the traffic.
    #[serde(default)]
    pub mode: Mode,
}

impl LbSpec {
    /// The name of the load balancer in HAProxy, and of its file.
    #[must_use]
    pub fn name(&self) -> String {
        format!("lb-{}-{}", self.address, self.port.0)
    }

    /// What HAProxy binds.
    #[must_use]
    pub fn listens_on(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.as_port())
    }
}

const fn any_address() -> IpAddr {
    IpAddr::V4(Ipv4Addr::UNSPECIFIED)
}

/// The protocol of a frontend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Connections are balanced.
    #[default]
    Tcp,
    /// Requests are balanced, also those of one connection.
    Http,
}

/// `lbInfo`: the identity of a load balancer. The owner makes sure that a late call for a deleted load
/// balancer does not change its successor at the same address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbInfo {
    /// As in `lbSpec`.
    pub address: IpAddr,
    /// As in `lbSpec`.
    pub port: Number<1, 65535>,
    /// As in `lbSpec`.
    #[serde(default)]
    pub mode: Mode,
    /// The object in the cluster, opaque.
    pub owner: String,
}

impl LbInfo {
    /// Where it listens.
    #[must_use]
    pub const fn spec(&self) -> LbSpec {
        LbSpec {
            address: self.address,
            port: self.port,
            mode: self.mode,
        }
    }
}

/// `spec.attributes` of a LoadBalancer. Changing them reloads HAProxy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Attributes {
    /// How the next server is chosen.
    pub balance: Balance,
    /// How servers are checked.
    pub health_check: HealthCheck,
    /// What an HTTP check requests.
    pub health_check_path: CheckPath,
    /// Time between two checks of a server, in milliseconds.
    pub health_check_millis: Number<100, 3_600_000, 2_000>,
    /// Seconds without data after which a connection is closed.
    pub idle_seconds: Number<1, 86_400, 60>,
}

/// The algorithms of HAProxy that servers can be added to while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "HAProxy's own words")]
pub enum Balance {
    #[default]
    Roundrobin,
    Leastconn,
    Random,
    Source,
}

/// How HAProxy finds out whether a server works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthCheck {
    /// Not at all: readiness in the cluster decides.
    None,
    /// By connecting.
    #[default]
    Tcp,
    /// By a GET request, whose response has to be 2xx or 3xx.
    Http,
}

/// `spec.parameters` of a BackendGroup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Parameters {
    /// A server's share of the traffic; 0 sends it nothing new.
    pub weight: Number<0, 256, 100>,
    /// How long open sessions may go on after a server is deregistered.
    pub drain_seconds: Number<0, 86_400, 30>,
}

impl Parameters {
    /// [`drain_seconds`](Self::drain_seconds) as a time.
    #[must_use]
    pub const fn drain_limit(&self) -> Duration {
        Duration::from_secs(self.drain_seconds.0 as u64)
    }
}

/// A number with bounds and a default, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Number<const MIN: u32, const MAX: u32, const DEFAULT: u32 = MIN>(u32);

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Number<MIN, MAX, DEFAULT> {
    /// The number, `None` out of bounds.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32> Number<MIN, 65535> {
    fn as_port(self) -> u16 {
        u16::try_from(self.0).unwrap_or_default()
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Default for Number<MIN, MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> TryFrom<String>
    for Number<MIN, MAX, DEFAULT>
{
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.parse().ok().and_then(Self::new);
        // One text for each number: neither 080 nor +80.
        number
            .filter(|number| number.0.to_string() == text)
            .ok_or_else(|| format!("not a number from {MIN} to {MAX} in plain digits"))
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> From<Number<MIN, MAX, DEFAULT>>
    for String
{
    fn from(number: Number<MIN, MAX, DEFAULT>) -> Self {
        number.0.to_string()
    }
}

/// A path in HAProxy's configuration, where spaces, quotes, `#` and `\` would begin something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CheckPath(String);

impl CheckPath {
    /// The path, which begins with a slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for CheckPath {
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl TryFrom<String> for CheckPath {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let allowed = |it: char| it.is_ascii_alphanumeric() || "/-._~%?=&+:,".contains(it);
        if text.starts_with('/') && text.len() <= 200 && text.chars().all(allowed) {
            return Ok(Self(text));
        }
        Err(
            "not a path that begins with /, of at most 200 letters, digits and any of / - . _ ~ % ? = & + : ,",
        )
    }
}

impl From<CheckPath> for String {
    fn from(path: CheckPath) -> Self {
        path.0
    }
}
