//! A problem of an object, and a line that helps.

use crate::object::ObjectRef;
use lbcf_controller::api::Condition;
use lbcf_controller::api::reasons::{self, ReportReason};
use serde::Serialize;
use serde_json::Value;

/// A problem of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The object that it is about.
    pub object: ObjectRef,
    /// Its reason in `docs/reasons.md`; none where it is in no condition.
    pub reason: Option<&'static ReportReason>,
    /// The problem, in words that follow the object.
    pub message: String,
    /// When it began, in RFC 3339, if that is known.
    pub since: Option<String>,
    /// A line or advice that helps.
    pub fix: Fix,
}

/// Help against a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fix {
    /// A line for a shell.
    Run(String),
    /// Advice, where the cause is outside of the cluster or a choice is the user's.
    Advice(String),
}

/// The findings from the first cause of a problem up to the object that the user asked about.
pub type Chain = Vec<Finding>;

/// A problem of an object that may follow from others.
pub(crate) struct Problem {
    pub(crate) finding: Finding,
    /// The objects with the causes, if they have problems.
    pub(crate) because: Vec<ObjectRef>,
    /// True if it is none unless one of them has a problem.
    pub(crate) follows: bool,
}

impl Finding {
    pub(crate) fn new(object: &ObjectRef, message: impl Into<String>, fix: Fix) -> Self {
        Self {
            object: object.clone(),
            reason: None,
            message: message.into(),
            since: None,
            fix,
        }
    }

    /// The message of a condition, with the advice of its reason.
    pub(crate) fn of_condition(object: &ObjectRef, condition: &Condition) -> Self {
        let reason = reasons::find(&condition.reason);
        let cause = match condition.message.as_str() {
            "" => reason.map_or("no message", ReportReason::meaning),
            message => message,
        };
        let advice = reason.map_or("See its events.", ReportReason::advice);
        let message = format!("is not {}: {cause}", condition.type_);
        Self {
            reason,
            since: condition.last_transition_time.clone(),
            ..Self::new(object, message, Fix::advice(advice))
        }
    }

    pub(crate) fn has_reason(&self, reasons: &[&'static ReportReason]) -> bool {
        self.reason.is_some_and(|reason| reasons.contains(&reason))
    }
}

impl From<Finding> for Problem {
    fn from(finding: Finding) -> Self {
        Self {
            finding,
            because: Vec::new(),
            follows: false,
        }
    }
}

impl Problem {
    /// A problem if one of these has one.
    pub(crate) fn following(object: &ObjectRef, message: String, because: Vec<ObjectRef>) -> Self {
        let finding = Finding::new(object, message, Fix::advice("See the cause."));
        Self {
            because,
            follows: true,
            ..finding.into()
        }
    }

    /// Replaces the advice, if there is something better.
    pub(crate) fn fix(&mut self, fix: Option<Fix>) {
        if let Some(fix) = fix {
            self.finding.fix = fix;
        }
    }
}

impl Fix {
    pub(crate) fn advice(text: impl Into<String>) -> Self {
        Self::Advice(text.into())
    }

    /// A command of kubectl about an object.
    pub(crate) fn kubectl(verb: &str, object: &ObjectRef, rest: &str) -> Self {
        Self::Run(format!("kubectl {verb} {}{rest}", object.arguments()))
    }

    /// A merge patch for an object, or a JSON patch if it is a list.
    pub(crate) fn patch(object: &ObjectRef, patch: &Value) -> Self {
        let type_ = if patch.is_array() { "json" } else { "merge" };
        let patch = quoted(&patch.to_string());
        Self::kubectl("patch", object, &format!(" --type={type_} -p {patch}"))
    }
}

/// A word of a line for a shell. A NUL cannot be quoted, and no such text has one.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or_default().into_owned()
}
