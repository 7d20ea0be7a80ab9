//! What a user asks for in `lbSpec`: an existing load balancer by its identity, or a new one.
//!
//! Fields that are not known are ignored, as drivers in the field do: manifests carry fields for
//! other editions of a driver. A misspelled field is then a missing one, and the rejection names
//! what was not understood.

use super::field::{
    DOMAIN, Field, FieldError, Given, IDENTITY, LB_ID, LISTENER_ID, ORDER, PORT, PROTOCOL, TYPE,
    URL, VPC_ID,
};
use super::identity::Identity;
use crate::cloud::{ListenerProtocol, NewLoadBalancer, Rule};
use lbcf_driver_sdk::webhook::StringMap;

const LB_SPEC: &str = "lbSpec";

/// What `lbSpec` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WantedLoadBalancer {
    /// This one, which exists.
    Existing(Identity),
    /// A new one.
    New(NewLoadBalancer),
}

impl WantedLoadBalancer {
    /// Reads `lbSpec`, whether or not the cloud has what it names.
    pub(super) fn read(lb_spec: &StringMap) -> Result<Self, FieldError> {
        let first_of = |fields: &[Field]| {
            fields.iter().find_map(|field| {
                let given = field.read(LB_SPEC, lb_spec);
                given.transpose()
            })
        };
        let named = first_of(&[LB_ID, LISTENER_ID]).transpose()?;
        let ordered = first_of(&ORDER).transpose()?;
        match (named, ordered) {
            (Some(named), Some(ordered)) => Err(FieldError::Missing(format!(
                "{named} names an existing load balancer and {ordered} asks for a new one: give one of them"
            ))),
            (Some(_), None) => Identity::read(LB_SPEC, lb_spec).map(Self::Existing),
            (None, Some(_)) => read_new(lb_spec).map(Self::New),
            (None, None) => Err(FieldError::Missing(format!(
                "{LB_SPEC} names no load balancer: give {} and {} of an existing one, or {}, {} and {} for a new one{}",
                LB_ID.names(),
                LISTENER_ID.names(),
                VPC_ID.names(),
                PORT.names(),
                PROTOCOL.names(),
                not_understood(lb_spec),
            ))),
        }
    }
}

fn read_new(lb_spec: &StringMap) -> Result<NewLoadBalancer, FieldError> {
    let required = |field: Field| {
        field.read(LB_SPEC, lb_spec)?.ok_or_else(|| {
            FieldError::Missing(format!(
                "{LB_SPEC}.{} is missing: a new load balancer needs {}, {} and {}{}",
                field.names(),
                VPC_ID.names(),
                PORT.names(),
                PROTOCOL.names(),
                not_understood(lb_spec),
            ))
        })
    };
    let protocol: ListenerProtocol = required(PROTOCOL)?.parse()?;
    let kind = TYPE.read(LB_SPEC, lb_spec)?;
    Ok(NewLoadBalancer {
        vpc: required(VPC_ID)?.value.to_owned(),
        kind: kind.map_or_else(|| Ok(Default::default()), |kind| kind.parse())?,
        protocol,
        port: read_port(required(PORT)?)?,
        rule: read_rule(lb_spec, protocol)?,
    })
}

fn read_port(given: Given<'_>) -> Result<u16, FieldError> {
    let digits = given.value.bytes().all(|byte| byte.is_ascii_digit());
    match given.value.parse() {
        Ok(port @ 1..) if digits => Ok(port),
        _ => Err(given.invalid("not a port from 1 to 65535")),
    }
}

fn read_rule(lb_spec: &StringMap, protocol: ListenerProtocol) -> Result<Option<Rule>, FieldError> {
    let domain = DOMAIN.read(LB_SPEC, lb_spec)?;
    let url = URL.read(LB_SPEC, lb_spec)?;
    if !protocol.has_rules() {
        return match domain.or(url) {
            None => Ok(None),
            Some(given) => Err(given.invalid(format!(
                "only HTTP and HTTPS listeners have a domain and a url, and this one is {protocol}"
            ))),
        };
    }
    if let Some(given) = domain
        && given
            .value
            .contains(|c: char| c.is_whitespace() || c == '/')
    {
        return Err(given.invalid("not a domain such as www.example.com"));
    }
    if let Some(given) = url
        && !given.value.starts_with('/')
    {
        return Err(given.invalid("not a path that starts with a slash"));
    }
    let rule = Rule::new(
        domain.map(|given| given.value),
        url.map(|given| given.value),
    );
    Ok(Some(rule))
}

/// The fields that no spelling is known of, for the end of a message.
fn not_understood(lb_spec: &StringMap) -> String {
    let unknown: Vec<&str> = lb_spec
        .keys()
        .filter(|name| {
            let mut known = IDENTITY.iter().chain(&ORDER);
            !known.any(|field| field.is_called(name))
        })
        .map(String::as_str)
        .collect();
    if unknown.is_empty() {
        String::new()
    } else {
        format!(" (not understood: {})", unknown.join(", "))
    }
}

#[cfg(test)]
mod tests;
