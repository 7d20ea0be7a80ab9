//! A call to make: the JSON that a controller would send, or something close to it.

use crate::exchange::Kind;
use crate::transport::Request;
use lbcf_driver_sdk::webhook::Webhook;
use serde_json::{Map, Value};

/// A call to make. Its `retryID` is new each time it is made, as it is for controllers, unless it
/// was set.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    webhook: &'static str,
    body: Map<String, Value>,
    kind: Kind,
    keeps_retry_id: bool,
}

impl Call {
    /// The call of a webhook, as controllers make it.
    pub(crate) fn of<W: Webhook>(request: &W::Request) -> Self {
        let body = match serde_json::to_value(request) {
            Ok(Value::Object(body)) => body,
            // Requests are structs with fields that JSON has.
            _ => Map::new(),
        };
        Self {
            webhook: W::INFO.name,
            body,
            kind: Kind::Proper,
            keeps_retry_id: false,
        }
    }

    /// The same, as something that only the check that makes it judges.
    pub(crate) fn unusual(mut self) -> Self {
        self.kind = Kind::Unusual;
        self
    }

    /// The same, as something that the specification does not allow.
    pub(crate) fn improper(mut self) -> Self {
        self.kind = Kind::Improper;
        self
    }

    /// The same with another value of a field.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body.insert(field.to_owned(), value.into());
        self
    }

    /// The same without a field.
    pub(crate) fn without(mut self, field: &str) -> Self {
        self.body.remove(field);
        self
    }

    /// The same under another recordID.
    pub(crate) fn record_id(self, id: impl Into<String>) -> Self {
        self.with("recordID", id.into())
    }

    /// The same with this retryID each time.
    pub(crate) fn retry_id(mut self, id: impl Into<String>) -> Self {
        self.keeps_retry_id = true;
        self.with("retryID", id.into())
    }

    /// The same as a dry run.
    pub(crate) fn dry_run(self) -> Self {
        self.with("dryRun", true)
    }

    /// Which webhook.
    pub(crate) const fn webhook(&self) -> &'static str {
        self.webhook
    }

    /// A field of the body.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.body.get(name)
    }

    /// Whether it is a dry run.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.body.get("dryRun") == Some(&Value::Bool(true))
    }

    /// What it is for the checks that judge all answers.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its request with this retryID, unless it has one of its own to keep.
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
