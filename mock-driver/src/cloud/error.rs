//! What the cloud refuses. Its messages reach the user of the cluster through events and
//! conditions, so each names the thing as the user knows it.

use super::endpoint::{ListenerProtocol, Rule};

/// There is nothing behind an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No such CLB instance.
    #[error("clb instance {0} not found")]
    Instance(String),
    /// The instance has no such listener.
    #[error("listener {listener} of clb instance {load_balancer} not found")]
    Listener {
        /// The instance.
        load_balancer: String,
        /// The listener that it does not have.
        listener: String,
    },
    /// The listener has no such rule.
    #[error("forward rule {rule} of listener {listener} not found")]
    Rule {
        /// The listener.
        listener: String,
        /// The rule that it does not have.
        rule: Rule,
    },
    /// The listener has no rules at all.
    #[error(
        "listener {listener} is a {protocol} listener: domain and url are for HTTP and HTTPS only"
    )]
    NoRules {
        /// The listener.
        listener: String,
        /// What it speaks.
        protocol: ListenerProtocol,
    },
}

/// A load balancer cannot be created, or not be taken into use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// It does not exist.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// Without a token a repeated call would make a second one.
    #[error("the client token is empty (it is the call's recordID)")]
    NoToken,
    /// The token stands for a load balancer made from another specification.
    #[error(
        "lbSpec has changed since {token} made clb instance {load_balancer}: delete that one first, or ask for a new one under a new recordID"
    )]
    Changed {
        /// The client token.
        token: String,
        /// What was made with it.
        load_balancer: String,
    },
}

/// A listener cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddListenerError {
    /// There is no instance to add it to.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// Another listener has the port.
    #[error("port {port} of clb instance {load_balancer} is taken by listener {listener}")]
    PortTaken {
        /// The instance.
        load_balancer: String,
        /// The port.
        port: u16,
        /// Who has it.
        listener: String,
    },
}
