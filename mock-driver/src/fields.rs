//! The types of the fields: what users write into their manifests, and what the driver returns.
//!
//! On the wire all of them are maps of strings. The SDK reads them with serde before it calls the
//! driver. A value that does not fit is rejected with its field and what is allowed, such as
//! `lbSpec.lbListenerPort: "0": not a number from 1 to 65535`, and the driver is not called.
//!
//! Several keys have two spellings, because the samples in the LBCF documents have both; `alias`
//! reads the second one. Unknown keys of `lbSpec` are ignored, because manifests may carry keys for
//! other editions of a driver; `deny_unknown_fields` would reject them. Those that look like a
//! misspelling of a known one are rejected.

use crate::checked::{checked, whole};
use crate::resources::{
    Endpoint, ListenerProtocol, LoadBalancerType, NewLoadBalancer, Rule, is_prepaid,
};
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};
use std::num::NonZeroU16;

/// `lbSpec`: an existing load balancer, or a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, try_from = "StringMap")]
pub enum LbSpec {
    /// Taken into use, and left as it is when LBCF deletes it.
    Existing(LbInfo),
    /// Created for LBCF, and deleted by it.
    New(NewLbSpec),
}

/// `lbInfo`: the identity of a load balancer, which is a listener of a CLB instance or, for HTTP and
/// HTTPS, one forwarding rule of the listener. The driver returns it from `createLoadBalancer`, and
/// the controller sends it in all later requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LbInfo {
    /// The ID of the CLB instance.
    #[serde(rename = "lbID", alias = "loadBalancerID")]
    pub load_balancer: String,

    /// The ID of the listener; empty for an instance whose listener is still being created.
    #[serde(rename = "lblID", alias = "listenerID", default)]
    pub listener: String,

    /// The domain of the forwarding rule.
    pub domain: Option<String>,

    /// The path of the forwarding rule.
    pub url: Option<String>,
}

/// `lbSpec` of a new load balancer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NewLbSpec {
    /// The ID of the network.
    #[serde(rename = "lbVpcID", alias = "vpcID")]
    pub vpc: String,

    /// `OPEN`, the default, if the internet can reach it, or `INTERNAL`.
    #[serde(rename = "loadBalancerType", default, deserialize_with = "any_case")]
    #[schemars(with = "String")]
    pub kind: LoadBalancerType,

    /// The port of the listener, 1 to 65535.
    #[serde(rename = "lbListenerPort", alias = "listenerPort")]
    pub port: NonZeroU16,

    /// The protocol of the listener: `TCP`, `UDP`, `HTTP` or `HTTPS`.
    #[serde(
        rename = "lbListenerProtocol",
        alias = "listenerProtocol",
        deserialize_with = "any_case"
    )]
    #[schemars(with = "String")]
    pub protocol: ListenerProtocol,

    /// For HTTP and HTTPS: the domain of the forwarding rule, any by default.
    pub domain: Option<Domain>,

    /// For HTTP and HTTPS: the path of the forwarding rule, `/` by default.
    pub url: Option<UrlPath>,
}

/// `attributes`: settings of a load balancer that may change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attributes {
    /// `PREPAID` if the load balancer is paid for in advance, or any other text.
    #[serde(rename = "chargeType")]
    pub charge_type: Option<String>,

    /// All other attributes, which the cloud keeps as they are.
    #[serde(flatten)]
    pub others: StringMap,
}

/// `parameters`: how a backend is registered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Parameters {
    /// Its share of the traffic, 0 to 100; 100 by default.
    pub weight: Option<Weight>,

    /// All other parameters, which the cloud keeps as they are.
    #[serde(flatten)]
    pub others: StringMap,
}

/// A weight from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
pub struct Weight(u8);

impl TryFrom<String> for Weight {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let weight = whole(&text, 0..=100).map(Self);
        weight.ok_or("not a whole number from 0 to 100")
    }
}

checked!(
    /// A domain such as `www.example.com`, or `*` for any.
    Domain,
    |text: &str| !text.contains(|c: char| c.is_whitespace() || c == '/'),
    "not a domain such as www.example.com"
);

checked!(
    /// A path that starts with a slash.
    UrlPath,
    |text: &str| text.starts_with('/'),
    "not a path that starts with a slash"
);

impl TryFrom<StringMap> for LbSpec {
    type Error = String;

    /// Decides by the keys which of the two the user means, so that errors are about that one.
    fn try_from(map: StringMap) -> Result<Self, String> {
        const EXISTING: [&str; 4] = ["lbID", "loadBalancerID", "lblID", "listenerID"];
        const NEW: [&str; 7] = [
            "lbVpcID",
            "vpcID",
            "lbListenerPort",
            "listenerPort",
            "lbListenerProtocol",
            "listenerProtocol",
            "loadBalancerType",
        ];
        let first_of = |keys: &[&'static str]| {
            let value = |key: &&'static str| Some((*key, map.get(*key)?));
            let mut given = keys.iter().filter_map(value);
            given.find(|(_, value)| !value.is_empty())
        };
        let known = [&EXISTING[..], &NEW, &["domain", "url"]].concat();
        let keys = map.keys().map(String::as_str);
        let unknown: Vec<_> = keys.filter(|key| !known.contains(key)).collect();
        let meant = |key: &&str| fields::nearest(key, &known);
        let unknown_keys = || {
            let shown = unknown.iter().map(|key| match meant(key) {
                Some(name) => format!("{key}, did you mean {name}?"),
                None => (*key).to_owned(),
            });
            match unknown.as_slice() {
                [] => String::new(),
                _ => format!(" (unknown: {})", Vec::from_iter(shown).join(", ")),
            }
        };
        let spec = match (first_of(&EXISTING), first_of(&NEW)) {
            (Some(_), None) => fields::read("lbSpec", &map).map(Self::Existing),
            (None, Some(_)) => fields::read("lbSpec", &map).map(Self::New),
            (Some((id, existing)), Some((key, new))) => {
                return Err(format!(
                    "lbSpec.{id}: {existing:?} names an existing load balancer and lbSpec.{key}: \
                     {new:?} asks for a new one: give one of them"
                ));
            }
            (None, None) => {
                return Err(format!(
                    "names no load balancer: give lbID and lblID of an existing one, or lbVpcID, \
                     lbListenerPort and lbListenerProtocol for a new one{}",
                    unknown_keys()
                ));
            }
        };
        let spec = spec.map_err(|error| format!("{error}{}", unknown_keys()))?;
        // A key that is close to a known one is a misspelling, which would go unnoticed.
        if let Some((key, meant)) = unknown.iter().find_map(|key| Some((key, meant(key)?))) {
            let keys = known.join(", ");
            return Err(format!(
                "lbSpec.{key}: unknown, did you mean {meant}? The keys are {keys}"
            ));
        }
        spec.check()?;
        Ok(spec)
    }
}

impl LbSpec {
    /// Checks what the types of single fields cannot say.
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Existing(lb_info) if lb_info.listener.is_empty() => Err(
                "lbSpec.lblID: is missing: lbID and lblID name an existing load balancer"
                    .to_owned(),
            ),
            Self::New(new)
                if !new.protocol.has_rules() && (new.domain.is_some() || new.url.is_some()) =>
            {
                Err(format!(
                    "lbSpec.domain and lbSpec.url: only HTTP and HTTPS listeners have them, and \
                     this one is {}",
                    new.protocol
                ))
            }
            Self::Existing(_) | Self::New(_) => Ok(()),
        }
    }
}

impl Attributes {
    /// True if the load balancer is paid for in advance.
    #[must_use]
    pub fn is_prepaid(&self) -> bool {
        let charge_type = self.charge_type.as_deref();
        charge_type.is_some_and(is_prepaid)
    }
}

impl Parameters {
    /// The weight, 0 to 100.
    #[must_use]
    pub fn weight(&self) -> u8 {
        self.weight.map_or(100, |Weight(weight)| weight)
    }
}

/// Reads an enum whose variants are named in capitals, in any letter case.
fn any_case<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(deserializer)?;
    T::deserialize(text.to_ascii_uppercase().into_deserializer())
}

impl From<LbInfo> for Endpoint {
    fn from(lb_info: LbInfo) -> Self {
        Self {
            load_balancer: lb_info.load_balancer,
            listener: lb_info.listener,
            domain: lb_info.domain,
            url: lb_info.url,
        }
    }
}

impl From<Endpoint> for LbInfo {
    fn from(endpoint: Endpoint) -> Self {
        Self {
            load_balancer: endpoint.load_balancer,
            listener: endpoint.listener,
            domain: endpoint.domain,
            url: endpoint.url,
        }
    }
}

impl From<NewLbSpec> for NewLoadBalancer {
    fn from(new: NewLbSpec) -> Self {
        let domain = new.domain.as_ref().map(Domain::as_str);
        let url = new.url.as_ref().map(UrlPath::as_str);
        Self {
            vpc: new.vpc,
            kind: new.kind,
            protocol: new.protocol,
            port: new.port.get(),
            rule: new.protocol.has_rules().then(|| Rule::new(domain, url)),
        }
    }
}

#[cfg(test)]
mod tests;
