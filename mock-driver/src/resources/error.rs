//! Why the cloud rejects a call. The messages reach users through events and conditions, so they
//! name resources by the IDs that users know.

use super::endpoint::{ListenerProtocol, Rule};
use std::fmt;
use std::time::Duration;

/// The delay that the cloud asks clients for.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The API is temporarily unavailable, or refuses a call because there were too many; what it holds is
/// not known. Load balancers keep working, and creations complete.
///
/// A rejection is about what the cloud holds, and stays the same until a user changes that. A driver
/// that takes one for the other forgets backends that still receive traffic. Like [`CloudError`] it is
/// no [`std::error::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The delay before the next try.
    pub retry_after: Duration,
    /// The cloud's code and the calls per second that it processes, if there were more.
    pub throttled_to: Option<(&'static str, u32)>,
}

/// Why a call of the cloud's API failed.
///
/// It is no [`std::error::Error`], so that `?` in a driver uses the driver's own conversion, and an
/// outage is never reported as a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloudError<E> {
    /// The API has not processed the call.
    Unavailable(Unavailable),
    /// The API has processed and rejected the call.
    Rejected(E),
}

impl Unavailable {
    pub(super) const OUTAGE: Self = Self {
        retry_after: RETRY_AFTER,
        throttled_to: None,
    };

    pub(super) const fn throttled(code: &'static str, limit: u32) -> Self {
        Self {
            throttled_to: Some((code, limit)),
            ..Self::OUTAGE
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.throttled_to {
            None => f.write_str("the cloud's API is temporarily unavailable"),
            Some((code, limit)) => {
                write!(
                    f,
                    "{code}: the quota max-calls-per-second of {limit} is used up"
                )
            }
        }
    }
}

impl<E: fmt::Display> fmt::Display for CloudError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(unavailable) => unavailable.fmt(f),
            Self::Rejected(why) => why.fmt(f),
        }
    }
}

/// Something would exceed a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the quota {name} of {limit} is used up")]
pub struct QuotaExceeded {
    /// The name, which is that of the flag.
    pub name: &'static str,
    /// The limit.
    pub limit: usize,
}

/// A call has more targets than the cloud takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("InvalidParameterValue.Length: {targets} targets in one call, at most {limit}")]
pub struct TooManyTargets {
    /// The targets of the call.
    pub targets: usize,
    /// The limit.
    pub limit: usize,
}

/// No resource has this identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// There is no CLB instance with this ID.
    #[error("clb instance {0} not found")]
    Instance(String),
    /// The identity names no listener of the instance.
    #[error("lblID is missing: it names a listener of clb instance {0}")]
    NoListener(String),
    /// The instance has no listener with this ID.
    #[error("listener {listener} of clb instance {load_balancer} not found")]
    Listener {
        /// The ID of the instance.
        load_balancer: String,
        /// The ID that none of its listeners has.
        listener: String,
    },
    /// The listener has no rule with this domain and path.
    #[error("forward rule {rule} of listener {listener} not found")]
    Rule {
        /// The ID of the listener.
        listener: String,
        /// The rule that was asked for.
        rule: Rule,
    },
    /// The listener forwards without rules.
    #[error(
        "listener {listener} is a {protocol} listener: domain and url are for HTTP and HTTPS only"
    )]
    NoRules {
        /// The ID of the listener.
        listener: String,
        /// The protocol of the listener.
        protocol: ListenerProtocol,
    },
}

/// A load balancer cannot be created or taken into use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The load balancer to take into use does not exist.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// There are as many instances as there may be.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The client token is empty: a repeated call would create a second load balancer.
    #[error("the client token is empty (it is the call's recordID)")]
    NoToken,
    /// A load balancer with this token was created from another specification.
    #[error(
        "lbSpec has changed since {token} created clb instance {load_balancer}: delete that one first, or use a new recordID"
    )]
    Changed {
        /// The client token, which is the recordID.
        token: String,
        /// The ID of the instance that was created with it.
        load_balancer: String,
    },
}

/// A target cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The endpoint does not exist.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The endpoint has as many targets as it may have.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
}

/// Attributes cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetAttributesError {
    /// The endpoint does not exist.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The new charge type, or the old one, is PREPAID.
    #[error("attributes.chargeType: {0:?}: a load balancer cannot change from or to \"PREPAID\"")]
    ChargeType(String),
}

/// A listener cannot be added to an instance.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddListenerError {
    /// The instance does not exist.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// Another listener uses the port.
    #[error("port {port} of clb instance {load_balancer} is taken by listener {listener}")]
    PortTaken {
        /// The ID of the instance.
        load_balancer: String,
        /// The port that is in use.
        port: u16,
        /// The ID of the listener that uses it.
        listener: String,
    },
}
