//! A driver's answer, read as tolerantly as can be: what is wrong with its form is for the WIRE
//! checks to say, once; the other checks look at what it means.

use crate::exchange::{Exchange, NoAnswer};
use crate::verdict::{Failure, NotPassed};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// What an operation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Succ,
    Fail,
    Running,
}

/// An answer, or what came instead of one.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) exchange: Arc<Exchange>,
    meaning: Result<Map<String, Value>, String>,
}

impl Answer {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        let meaning = meaning(&exchange);
        Self { exchange, meaning }
    }

    /// Whether an answer to a webhook call came, whatever it says.
    pub(crate) const fn is_answer(&self) -> bool {
        self.meaning.is_ok()
    }

    /// The HTTP status, if anything whole came.
    pub(crate) fn http_status(&self) -> Option<u16> {
        self.exchange
            .outcome
            .as_ref()
            .ok()
            .map(|received| received.status)
    }

    /// Whether there was no answer in time, or the driver could not be reached.
    pub(crate) fn no_answer(&self) -> Option<&NoAnswer> {
        self.exchange.outcome.as_ref().err()
    }

    /// What an operation's answer says; nothing when it is none, or says something else.
    pub(crate) fn status(&self) -> Option<Status> {
        let body = self.meaning.as_ref().ok()?;
        let Some(status) = in_any_case(body, "status") else {
            // One that says nothing more, either, is taken for a success.
            let is_empty = self.msg().is_empty() && in_any_case(body, "succ").is_none();
            return is_empty.then_some(Status::Succ);
        };
        let status = status.as_str()?;
        [
            ("succ", Status::Succ),
            ("success", Status::Succ),
            ("fail", Status::Fail),
            ("failed", Status::Fail),
            ("failure", Status::Fail),
            ("running", Status::Running),
        ]
        .into_iter()
        .find_map(|(name, meant)| name.eq_ignore_ascii_case(status.trim()).then_some(meant))
    }

    /// A field of the answer, its name in any letter case, as Go reads it.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        in_any_case(self.meaning.as_ref().ok()?, name)
    }

    /// What a decision says.
    pub(crate) fn verdict(&self) -> Option<bool> {
        as_bool(self.field("succ")?)
    }

    /// Whether the driver says that it is healthy.
    pub(crate) fn healthy(&self) -> Option<bool> {
        as_bool(self.field("healthy")?)
    }

    /// The message.
    pub(crate) fn msg(&self) -> &str {
        self.field("msg")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// How long the driver asks to wait, if it does.
    pub(crate) fn delay(&self) -> Option<Duration> {
        let seconds = match self.field("minRetryDelayInSeconds")? {
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|delay| !delay.is_zero())
    }

    /// A map of strings in the answer; numbers and the like as their texts.
    pub(crate) fn map(&self, name: &str) -> StringMap {
        let Some(Value::Object(map)) = self.field(name) else {
            return StringMap::new();
        };
        map.iter()
            .map(|(key, value)| {
                let text = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                (key.clone(), text)
            })
            .collect()
    }

    /// What the answer says, for people.
    pub(crate) fn said(&self) -> String {
        let body = match (&self.meaning, &self.exchange.outcome) {
            (Ok(body), _) => body,
            (Err(problem), _) => return problem.clone(),
        };
        let mut said = Vec::new();
        for name in ["status", "succ", "healthy"] {
            if let Some(value) = in_any_case(body, name) {
                said.push(format!("{name} {value}"));
            }
        }
        if said.is_empty() {
            said.push("neither status nor succ".to_owned());
        }
        if !self.msg().is_empty() {
            said.push(format!("msg {:?}", self.msg()));
        }
        said.join(", ")
    }

    /// A failure that this answer shows.
    pub(crate) fn failure(&self, expected: impl Into<String>, got: impl Into<String>) -> Failure {
        Failure {
            expected: expected.into(),
            got: got.into(),
            hint: None,
            exchange: Some(self.exchange.clone()),
        }
    }

    /// The check failed, as this answer shows.
    pub(crate) fn failed(&self, expected: impl Into<String>, got: impl Into<String>) -> NotPassed {
        self.failure(expected, got).into()
    }

    /// Has to be `Succ`; `since` says why.
    pub(crate) fn succ(&self, since: &str) -> Result<&Self, NotPassed> {
        self.of_status(Status::Succ, "status Succ", since)
    }

    /// Has to be `Fail` with a message or without; `since` says why.
    pub(crate) fn fail(&self, since: &str) -> Result<&Self, NotPassed> {
        self.of_status(Status::Fail, "status Fail", since)
    }

    /// Has to be an operation's answer of any status; `since` says why.
    pub(crate) fn any_status(&self, since: &str) -> Result<Status, NotPassed> {
        self.status()
            .ok_or_else(|| self.failed(format!("an answer with a status, {since}"), self.said()))
    }

    /// Has to be `succ: true`; `since` says why.
    pub(crate) fn accepted(&self, since: &str) -> Result<&Self, NotPassed> {
        match self.verdict() {
            Some(true) => Ok(self),
            _ => Err(self.failed(format!("succ true, {since}"), self.said())),
        }
    }

    /// Has to be `succ: false`; `since` says why.
    pub(crate) fn refused(&self, since: &str) -> Result<&Self, NotPassed> {
        match self.verdict() {
            Some(false) => Ok(self),
            _ => Err(self.failed(format!("succ false, {since}"), self.said())),
        }
    }

    /// Has to be a decision, whichever; `since` says why.
    pub(crate) fn any_verdict(&self, since: &str) -> Result<bool, NotPassed> {
        self.verdict()
            .ok_or_else(|| self.failed(format!("an answer with succ, {since}"), self.said()))
    }

    /// Has to have a message for people.
    pub(crate) fn has_msg(&self) -> Result<&Self, NotPassed> {
        if self.msg().trim().is_empty() {
            let expected = "a msg that says why: users read it in events and refusals";
            return Err(self.failed(expected, format!("{}, without a msg", self.said())));
        }
        Ok(self)
    }

    fn of_status(&self, wanted: Status, name: &str, since: &str) -> Result<&Self, NotPassed> {
        if self.status() == Some(wanted) {
            return Ok(self);
        }
        Err(self.failed(format!("{name}, {since}"), self.said()))
    }
}

/// A field by its name; in another letter case, too, unless it is there as it should be.
pub(crate) fn in_any_case<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).or_else(|| {
        let mut fields = body.iter();
        fields.find_map(|(other, value)| other.eq_ignore_ascii_case(name).then_some(value))
    })
}

fn as_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// The object in the body of an answer with a status of 200 to 299.
fn meaning(exchange: &Exchange) -> Result<Map<String, Value>, String> {
    let received = exchange.outcome.as_ref().map_err(ToString::to_string)?;
    if !(200..300).contains(&received.status) {
        return Err(format!("HTTP {}", received.status));
    }
    match serde_json::from_slice(&received.body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(format!(
            "HTTP {} with JSON that is no object",
            received.status
        )),
        Err(error) => Err(format!(
            "HTTP {} with a body that is no JSON: {error}",
            received.status
        )),
    }
}
