//! One field of `lbSpec` or `lbInfo`. Most have two spellings, since the documents' samples do;
//! whichever the user wrote is the one that messages speak of.

use lbcf_driver_sdk::webhook::StringMap;
use std::fmt::Display;
use std::str::FromStr;

/// A field by all its spellings, the preferred one first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field(&'static [&'static str]);

pub(super) const LB_ID: Field = Field(&["lbID", "loadBalancerID"]);
pub(super) const LISTENER_ID: Field = Field(&["lblID", "listenerID"]);
pub(super) const DOMAIN: Field = Field(&["domain"]);
pub(super) const URL: Field = Field(&["url"]);
pub(super) const VPC_ID: Field = Field(&["lbVpcID", "vpcID"]);
pub(super) const PORT: Field = Field(&["lbListenerPort", "listenerPort"]);
pub(super) const PROTOCOL: Field = Field(&["lbListenerProtocol", "listenerProtocol"]);
pub(super) const TYPE: Field = Field(&["loadBalancerType"]);

/// What identifies an existing load balancer.
pub(super) const IDENTITY: [Field; 4] = [LB_ID, LISTENER_ID, DOMAIN, URL];
/// What only a new one needs.
pub(super) const ORDER: [Field; 4] = [VPC_ID, PORT, PROTOCOL, TYPE];

/// A map of fields cannot be read. Each message names the field, its value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldError {
    /// Two spellings of one field disagree.
    #[error("{first} and {second} are two names of one field and have different values: give one")]
    Conflict { first: String, second: String },
    /// The value is not allowed.
    #[error("{given}: {problem}")]
    Invalid { given: String, problem: String },
    /// A field that is needed is not there.
    #[error("{0}")]
    Missing(String),
}

/// A field as the user gave it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    map: &'static str,
    name: &'static str,
    pub(super) value: &'a str,
}

impl Display for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}: {:?}", self.map, self.name, self.value)
    }
}

impl Given<'_> {
    /// The rejection of this value.
    pub(super) fn invalid(&self, problem: impl Display) -> FieldError {
        FieldError::Invalid {
            given: self.to_string(),
            problem: problem.to_string(),
        }
    }

    /// The value as a `T`.
    pub(super) fn parse<T: FromStr<Err: Display>>(&self) -> Result<T, FieldError> {
        self.value.parse().map_err(|error| self.invalid(error))
    }
}

impl Field {
    /// The value in `map`, which the user knows by the name `map_name`. An empty one is as good
    /// as none: templates leave them behind.
    pub(super) fn read<'a>(
        self,
        map_name: &'static str,
        map: &'a StringMap,
    ) -> Result<Option<Given<'a>>, FieldError> {
        let mut given = self.0.iter().filter_map(|name| {
            let value = map.get(*name).filter(|value| !value.is_empty())?;
            Some(Given {
                map: map_name,
                name,
                value,
            })
        });
        let first = given.next();
        let other = given.find(|other| first.is_some_and(|first| first.value != other.value));
        match (first, other) {
            (Some(first), Some(second)) => Err(FieldError::Conflict {
                first: first.to_string(),
                second: second.to_string(),
            }),
            _ => Ok(first),
        }
    }

    /// Whether this is a spelling of it.
    pub(super) fn is_called(self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// All spellings: `lbID (or loadBalancerID)`.
    pub(super) fn names(self) -> String {
        match self.0 {
            [only] => (*only).to_owned(),
            names => format!("{} (or {})", names[0], names[1..].join(", ")),
        }
    }
}
