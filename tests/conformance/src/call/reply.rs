//! A driver's response, read as tolerantly as possible: the WIRE checks report wrong forms once, and
//! the other checks verify the content.

use crate::exchange::{Exchange, NoResponse};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The status of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Succ,
    Fail,
    Running,
}

/// A response to a webhook call, or the reason for a missing one.
#[derive(Debug, Clone)]
pub(crate) struct DriverReply {
    pub(crate) exchange: Arc<Exchange>,
    body: Result<Map<String, Value>, String>,
}

impl DriverReply {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        let body = object(&exchange);
        Self { exchange, body }
    }

    /// True if a JSON object with a status from 200 to 299 was received.
    pub(crate) const fn is_object(&self) -> bool {
        self.body.is_ok()
    }

    pub(crate) fn http_status(&self) -> Option<u16> {
        let received = self.exchange.outcome.as_ref().ok()?;
        Some(received.status)
    }

    pub(crate) fn no_response(&self) -> Option<&NoResponse> {
        self.exchange.outcome.as_ref().err()
    }

    /// The operation's status; `None` for other responses and unknown values.
    pub(crate) fn status(&self) -> Option<Status> {
        let body = self.body.as_ref().ok()?;
        let Some(status) = in_any_case(body, "status") else {
            // An empty object counts as success.
            let is_empty = self.msg().is_empty() && in_any_case(body, "succ").is_none();
            return is_empty.then_some(Status::Succ);
        };
        match status.as_str()?.trim().to_ascii_lowercase().as_str() {
            "succ" | "success" => Some(Status::Succ),
            "fail" | "failed" | "failure" => Some(Status::Fail),
            "running" => Some(Status::Running),
            _ => None,
        }
    }

    /// A field of the body, its name compared without regard to case, as Go does.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        in_any_case(self.body.as_ref().ok()?, name)
    }

    /// `succ` of a validating webhook.
    pub(crate) fn decision(&self) -> Option<bool> {
        as_bool(self.field("succ")?)
    }

    pub(crate) fn healthy(&self) -> Option<bool> {
        as_bool(self.field("healthy")?)
    }

    pub(crate) fn msg(&self) -> &str {
        let msg = self.field("msg").and_then(Value::as_str);
        msg.unwrap_or_default()
    }

    /// `minRetryDelayInSeconds`, unless it is zero or unreadable.
    pub(crate) fn retry_delay(&self) -> Option<Duration> {
        let seconds = match self.field("minRetryDelayInSeconds")? {
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        let delay = Duration::try_from_secs_f64(seconds).ok()?;
        (!delay.is_zero()).then_some(delay)
    }

    /// A map of strings in the body, empty when missing; other values are converted to strings.
    pub(crate) fn string_map(&self, name: &str) -> StringMap {
        let Some(Value::Object(map)) = self.field(name) else {
            return StringMap::new();
        };
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let texts = map.iter().map(|(key, value)| (key.clone(), text(value)));
        texts.collect()
    }

    /// The identity in a Succ of `createLoadBalancer`: its `lbInfo`, or else `lbSpec`.
    pub(crate) fn identity(&self, lb_spec: &StringMap) -> StringMap {
        let lb_info = self.string_map("lbInfo");
        if lb_info.is_empty() {
            lb_spec.clone()
        } else {
            lb_info
        }
    }

    /// `backendAddr`, unless it is empty or not a string.
    pub(crate) fn backend_addr(&self) -> Option<&str> {
        let addr = self.field("backendAddr")?.as_str()?;
        (!addr.trim().is_empty()).then_some(addr)
    }

    /// A short description for people, such as `status "Fail", msg "busy"`.
    pub(crate) fn summary(&self) -> String {
        let body = match &self.body {
            Ok(body) => body,
            Err(problem) => return problem.clone(),
        };
        let mut parts = Vec::new();
        for name in ["status", "succ", "healthy"] {
            if let Some(value) = in_any_case(body, name) {
                parts.push(format!("{name} {value}"));
            }
        }
        if parts.is_empty() {
            parts.push("neither status nor succ".to_owned());
        }
        if !self.msg().is_empty() {
            parts.push(format!("msg {:?}", self.msg()));
        }
        parts.join(", ")
    }

    /// The items of a list in the body, each read by `read`; none when it is missing or null.
    ///
    /// # Errors
    /// [`CheckError::Failed`] with `expected`, when it is no list of what `read` accepts.
    pub(crate) fn list<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> CheckOutcome<Vec<T>> {
        let items = match self.field(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.failed(expected, format!("{name} {}", cut(other)))),
        };
        let wrong = |item| self.failed(expected, format!("an entry {}", cut(item)));
        let read = |item| read(item).ok_or_else(|| wrong(item));
        items.iter().map(read).collect()
    }

    /// A failure that this exchange shows.
    pub(crate) fn failed(&self, expected: impl Into<String>, got: impl Into<String>) -> CheckError {
        Failure {
            exchange: Some(self.exchange.clone()),
            ..Failure::new(expected, got)
        }
        .into()
    }

    /// Fails with the texts for what is expected and what this exchange shows, unless `holds`.
    pub(crate) fn check(
        &self,
        holds: bool,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> CheckOutcome {
        if holds {
            Ok(())
        } else {
            Err(self.failed(expected, got))
        }
    }

    /// Requires `Succ`, for the reason `since`.
    pub(crate) fn succ(&self, since: &str) -> CheckOutcome<&Self> {
        self.expect(self.status() == Some(Status::Succ), "status Succ", since)
    }

    /// Requires `Fail`, for the reason `since`.
    pub(crate) fn fail(&self, since: &str) -> CheckOutcome<&Self> {
        self.expect(self.status() == Some(Status::Fail), "status Fail", since)
    }

    /// Requires the status of an operation.
    pub(crate) fn operation_status(&self) -> CheckOutcome<Status> {
        self.any_status("as every response of an operation has one")
    }

    /// Requires the status of an operation, for the reason `since`.
    pub(crate) fn any_status(&self, since: &str) -> CheckOutcome<Status> {
        self.status()
            .ok_or_else(|| self.unexpected("a response with a status", since))
    }

    /// Requires `succ: true`, for the reason `since`.
    pub(crate) fn accepted(&self, since: &str) -> CheckOutcome<&Self> {
        self.expect(self.decision() == Some(true), "succ true", since)
    }

    /// Requires `succ: false`, for the reason `since`.
    pub(crate) fn rejected(&self, since: &str) -> CheckOutcome<&Self> {
        self.expect(self.decision() == Some(false), "succ false", since)
    }

    /// Requires `succ` of any value, for the reason `since`.
    pub(crate) fn any_decision(&self, since: &str) -> CheckOutcome<bool> {
        self.decision()
            .ok_or_else(|| self.unexpected("a response with succ", since))
    }

    /// Requires a message for users.
    pub(crate) fn has_msg(&self) -> CheckOutcome<&Self> {
        let expected = "a msg with the reason: users read it in events and rejections";
        let got = format!("{}, without a msg", self.summary());
        self.check(!self.msg().trim().is_empty(), expected, got)?;
        Ok(self)
    }

    fn expect(&self, is_met: bool, expected: &str, since: &str) -> CheckOutcome<&Self> {
        if is_met {
            Ok(self)
        } else {
            Err(self.unexpected(expected, since))
        }
    }

    fn unexpected(&self, expected: &str, since: &str) -> CheckError {
        self.failed(format!("{expected}, {since}"), self.summary())
    }
}

/// A field by its exact name, or else by its name in another letter case.
pub(crate) fn in_any_case<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).or_else(|| {
        let mut fields = body.iter();
        fields.find_map(|(other, value)| other.eq_ignore_ascii_case(name).then_some(value))
    })
}

/// A value as JSON of at most 120 characters.
fn cut(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn as_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.to_ascii_lowercase().parse().ok(),
        _ => None,
    }
}

/// The object in the body of a response with a status from 200 to 299.
fn object(exchange: &Exchange) -> Result<Map<String, Value>, String> {
    let received = exchange.outcome.as_ref().map_err(ToString::to_string)?;
    let status = received.status;
    if !(200..300).contains(&status) {
        return Err(format!("HTTP {status}"));
    }
    match serde_json::from_slice(&received.body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(format!("HTTP {status} with JSON that is not an object")),
        Err(error) => Err(format!(
            "HTTP {status} with a body that is not JSON: {error}"
        )),
    }
}
