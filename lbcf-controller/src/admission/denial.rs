//! Denials: why a request is not admitted, and the status that the client receives. Field errors name the
//! field that is invalid, its value, and what is allowed, as apimachinery's `field.ErrorList` does.

use crate::process::text::shortened;
use serde::Serialize;
use std::fmt;

/// The longest single reason, in characters.
const REASON_LIMIT: usize = 1000;
/// The longest message, in characters.
const MESSAGE_LIMIT: usize = 8000;
/// The longest quotation of a value, in characters.
const QUOTE_LIMIT: usize = 100;
/// The most reasons that a message lists.
const REASON_COUNT: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denial {
    /// The request violates a rule, or a driver rejected it.
    Forbidden(String),
    /// It cannot be determined now if the request is valid.
    Undetermined(String),
}

/// The status in the response to a denied request.
#[derive(Serialize)]
pub(super) struct DenialStatus {
    message: String,
    reason: &'static str,
    code: u16,
}

impl Denial {
    /// Joins several reasons into one denial.
    pub(super) fn forbidden(reasons: impl IntoIterator<Item = String>) -> Self {
        Self::Forbidden(limited(reasons).join("; "))
    }

    pub(super) fn message(&self) -> &str {
        let (Self::Forbidden(message) | Self::Undetermined(message)) = self;
        message
    }

    /// The message as clients receive it.
    pub(super) fn client_message(&self) -> String {
        shortened(self.message().to_owned(), MESSAGE_LIMIT)
    }

    pub(super) fn status(&self) -> DenialStatus {
        let (reason, code) = match self {
            // `Invalid` would be more exact, but some versions of kubectl print no message with it.
            Self::Forbidden(_) => ("Forbidden", 403),
            // Not 503, after which clients retry immediately.
            Self::Undetermined(_) => ("InternalError", 500),
        };
        DenialStatus {
            message: self.client_message(),
            reason,
            code,
        }
    }
}

/// Denies where any of the checks denies, with each distinct message once. Several messages
/// are separated by brackets.
pub(super) fn all_of(checks: impl IntoIterator<Item = Result<(), Denial>>) -> Result<(), Denial> {
    let mut denials: Vec<Denial> = Vec::new();
    for denial in checks.into_iter().filter_map(Result::err) {
        if !denials
            .iter()
            .any(|other| other.message() == denial.message())
        {
            denials.push(denial);
        }
    }
    if denials.len() <= 1 {
        return denials.pop().map_or(Ok(()), Err);
    }
    let is_forbidden = denials
        .iter()
        .any(|denial| matches!(denial, Denial::Forbidden(_)));
    let messages = denials
        .iter()
        .map(|denial| format!("[{}]", denial.message()));
    let message = limited(messages).join(", ");
    Err(if is_forbidden {
        Denial::Forbidden(message)
    } else {
        Denial::Undetermined(message)
    })
}

fn limited(reasons: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut reasons: Vec<String> = reasons
        .into_iter()
        .map(|reason| shortened(reason, REASON_LIMIT))
        .collect();
    if reasons.len() > REASON_COUNT {
        let more = reasons.len() - REASON_COUNT;
        reasons.truncate(REASON_COUNT);
        reasons.push(format!("and {more} more"));
    }
    reasons
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldError {
    field: String,
    problem: String,
}

impl FieldError {
    /// A value that is not allowed.
    pub(super) fn invalid(
        field: impl Into<String>,
        value: impl fmt::Debug,
        allowed: impl fmt::Display,
    ) -> Self {
        let value = shortened(format!("{value:?}"), QUOTE_LIMIT);
        Self::new(field, format!("{value}: {allowed}"))
    }

    /// A problem that has no value to quote, such as a missing field.
    pub(super) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl From<FieldError> for Denial {
    fn from(error: FieldError) -> Self {
        Self::forbidden([error.to_string()])
    }
}

/// All errors of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FieldErrors(pub(super) Vec<FieldError>);

impl FieldErrors {
    pub(super) fn invalid(
        &mut self,
        field: impl Into<String>,
        value: impl fmt::Debug,
        allowed: impl fmt::Display,
    ) {
        self.0.push(FieldError::invalid(field, value, allowed));
    }

    pub(super) fn push(&mut self, field: impl Into<String>, problem: impl Into<String>) {
        self.0.push(FieldError::new(field, problem));
    }

    /// The errors that the old object did not have: an object that was stored under weaker rules
    /// stays changeable.
    pub(super) fn introduced_since(mut self, old: Option<Self>) -> Self {
        let old = old.unwrap_or_default();
        self.0.retain(|error| !old.0.contains(error));
        self
    }

    /// # Errors
    /// A denial that lists the errors, where there are any.
    pub(super) fn into_result(self) -> Result<(), Denial> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Denial::forbidden(self.0.iter().map(FieldError::to_string)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b97_denials_are_listed_once_and_separated() {
        let forbidden = |message: &str| Err(Denial::Forbidden(message.into()));
        let undetermined = |message: &str| Err(Denial::Undetermined(message.into()));
        assert_eq!(all_of([Ok(()), Ok(())]), Ok(()));
        assert_eq!(
            all_of([forbidden("a"), Ok(()), forbidden("a")]),
            forbidden("a")
        );
        assert_eq!(
            all_of([undetermined("a"), forbidden("b"), undetermined("a")]),
            forbidden("[a], [b]")
        );
        assert_eq!(
            all_of([undetermined("a"), undetermined("b")]),
            undetermined("[a], [b]")
        );
    }

    #[test]
    fn an_error_names_field_value_and_what_is_allowed() {
        let error = FieldError::invalid("spec.driverType", "Socket", "must be Webhook");
        assert_eq!(
            error.to_string(),
            r#"spec.driverType: "Socket": must be Webhook"#
        );
        let long = FieldError::invalid("spec.url", "ü".repeat(5000), "too long").to_string();
        assert!(long.chars().count() < 130, "{long}");
    }

    #[test]
    fn a_denial_lists_errors_up_to_a_limit() {
        assert_eq!(FieldErrors::default().into_result(), Ok(()));
        let errors = (0..30).map(|i| FieldError::new(format!("f{i}"), "wrong"));
        let denial = FieldErrors(errors.collect()).into_result().unwrap_err();
        assert!(denial.message().starts_with("f0: wrong; f1: wrong; "));
        assert!(
            denial.message().ends_with("f19: wrong; and 10 more"),
            "{denial:?}"
        );
    }

    #[test]
    fn errors_of_the_old_object_are_not_reported_again() {
        let [a, b] = ["a", "b"].map(|field| FieldError::new(field, "wrong"));
        let new = FieldErrors(vec![a.clone(), b.clone()]);
        let old = FieldErrors(vec![a]);
        assert_eq!(
            new.clone().introduced_since(Some(old)),
            FieldErrors(vec![b])
        );
        assert_eq!(new.clone().introduced_since(None), new);
    }
}
