//! Webhook calls: the JSON that a controller would send, or a variation of it; the resources that the
//! calls are about, and the replies.

mod reply;
mod resources;

pub(crate) use reply::{DriverReply, Status, in_any_case};
pub(crate) use resources::{
    Backend, LoadBalancer, Source, validate_backend, validate_backend_update,
};

use crate::exchange::RequestKind;
use crate::transport::Request;
use lbcf_driver_sdk::webhook::{Class, Healthz, StringMap, Webhook, object_id};
use serde_json::{Map, Value};

/// The namespace of the objects that the calls are about.
const NAMESPACE: &str = "conformance";

/// A call of a webhook. Its `retryID` is new each time it is sent, as it is for controllers, unless
/// the check sets one.
#[derive(Debug, Clone)]
pub(crate) struct WebhookCall {
    webhook: &'static str,
    body: Map<String, Value>,
    kind: RequestKind,
    keeps_retry_id: bool,
}

pub(crate) fn healthz() -> WebhookCall {
    WebhookCall::of::<Healthz>(&Healthz {})
}

impl WebhookCall {
    /// The call as controllers make it.
    pub(crate) fn of<W: Webhook>(request: &W) -> Self {
        let mut body = match serde_json::to_value(request) {
            Ok(Value::Object(body)) => body,
            // Requests are structs.
            _ => Map::new(),
        };
        if W::INFO.class != Class::Health {
            let record_id = body.get("recordID").and_then(Value::as_str);
            let name = record_id.map_or("object", object_id).to_owned();
            body.insert("namespace".to_owned(), NAMESPACE.into());
            body.insert("name".to_owned(), name.into());
        }
        Self {
            webhook: W::INFO.name,
            body,
            kind: RequestKind::Valid,
            keeps_retry_id: false,
        }
    }

    /// Marks it as [`RequestKind::Unusual`].
    pub(crate) fn unusual(mut self) -> Self {
        self.kind = RequestKind::Unusual;
        self
    }

    /// Marks it as [`RequestKind::Invalid`].
    pub(crate) fn invalid(mut self) -> Self {
        self.kind = RequestKind::Invalid;
        self
    }

    /// The same call with another body, if that is a JSON object.
    pub(crate) fn with_body(&self, body: &[u8]) -> Option<Self> {
        let body = serde_json::from_slice(body).ok()?;
        let own = self.clone();
        Some(Self { body, ..own })
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body.insert(field.to_owned(), value.into());
        self
    }

    pub(crate) fn without(mut self, field: &str) -> Self {
        self.body.remove(field);
        self
    }

    /// With null for each of these fields.
    pub(crate) fn with_nulls(self, fields: &[&str]) -> Self {
        let null = |call: Self, field: &&str| call.with(field, Value::Null);
        fields.iter().fold(self, null)
    }

    pub(crate) fn record_id(self, id: impl Into<String>) -> Self {
        self.with("recordID", id.into())
    }

    /// Sends this retryID each time.
    pub(crate) fn retry_id(mut self, id: impl Into<String>) -> Self {
        self.keeps_retry_id = true;
        self.with("retryID", id.into())
    }

    pub(crate) fn dry_run(self) -> Self {
        self.with("dryRun", true)
    }

    pub(crate) const fn webhook(&self) -> &'static str {
        self.webhook
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.body.get(name)
    }

    /// A map of the body, empty when it is missing.
    pub(crate) fn string_map(&self, name: &str) -> StringMap {
        let value = self.field(name).cloned().unwrap_or_default();
        serde_json::from_value(value).unwrap_or_default()
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.body.get("dryRun") == Some(&Value::Bool(true))
    }

    pub(crate) const fn kind(&self) -> RequestKind {
        self.kind
    }

    /// The request with this retryID, unless the check set another.
    pub(crate) fn request(&self, retry_id: &str) -> Request {
        let mut body = self.body.clone();
        if !self.keeps_retry_id
            && let Some(own) = body.get_mut("retryID")
        {
            *own = Value::from(retry_id);
        }
        Request::post(self.webhook, Value::Object(body).to_string())
    }
}
