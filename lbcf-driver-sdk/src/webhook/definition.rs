//! The parts of a webhook's definition.

use crate::wire::DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// A map of strings as the wire has it: `lbSpec`, `lbInfo`, `attributes`, `parameters`,
/// `injectedInfo`. `null` and absence read as empty, an empty one is written as `null`.
pub type StringMap = BTreeMap<String, String>;

/// One webhook of the specification: the wire's form of its request.
pub trait Webhook: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// The webhook's row of the table.
    const INFO: WebhookInfo;
    /// The driver's response.
    type Response: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    /// True if the driver failed, refused or is not healthy. `Running` is none of these.
    fn is_fail(response: &Self::Response) -> bool;

    /// Reads a request like [`wire::from_slice`](crate::wire::from_slice), which is compiled again in every
    /// crate that calls it for a type, with everything that a pod may contain. This and the three below are
    /// compiled once.
    ///
    /// # Errors
    /// [`DecodeError`], which names the field.
    fn read_request(body: &[u8]) -> Result<Self, DecodeError>;

    /// [`read_request`](Self::read_request) for a response.
    ///
    /// # Errors
    /// [`DecodeError`], which names the field.
    fn read_response(body: &[u8]) -> Result<Self::Response, DecodeError>;

    /// Writes the request as JSON.
    ///
    /// # Errors
    /// Those of the request's `Serialize`; the specification's types have none.
    fn write_request(&self) -> serde_json::Result<Vec<u8>>;

    /// Writes a response as JSON.
    ///
    /// # Errors
    /// Those of the response's `Serialize`; the specification's types have none.
    fn write_response(response: &Self::Response) -> serde_json::Result<Vec<u8>>;
}

/// A row of the table, without the types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WebhookInfo {
    /// The name in the specification, which is also the last segment of its path.
    pub name: &'static str,
    /// Decides how its responses are read and whether it is called again.
    pub class: Class,
    /// Which drivers have to serve it.
    pub obligation: Obligation,
}

/// The kind of a webhook, which decides how its responses are read and whether it is called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A health check: `{"healthy": true}`.
    Health,
    /// A decision, requested once: `{"succ": true, "msg": ""}`.
    Verdict,
    /// An operation, called until it is done: `{"status": "Succ|Fail|Running"}`.
    Operation,
}

/// Which drivers have to serve a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obligation {
    /// Every driver has to.
    Mandatory,
    /// Drivers that a `deregisterWebhook` names have to.
    OnRequest,
    /// Drivers whose LoadBalancerDriver lists it in `spec.webhooks` have to.
    Listed,
    /// No driver has to; 404 counts as healthy.
    Optional,
}
