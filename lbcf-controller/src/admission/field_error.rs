//! Field errors: which field is invalid, its value, and what is allowed, as in apimachinery's
//! `field.ErrorList`.

use super::denial::Denial;
use std::fmt;

/// The longest quotation of a value, in characters.
const QUOTE_LIMIT: usize = 100;

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
        Self::new(field, format!("{}: {allowed}", quoted(value)))
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

    /// Rejects a change of an immutable field; `hint` is what to change instead.
    pub(super) fn immutable<T: fmt::Debug + PartialEq + ?Sized>(
        &mut self,
        field: impl Into<String>,
        new: &T,
        old: &T,
        hint: &str,
    ) {
        if new != old {
            let old = quoted(old);
            let problem = format!("field is immutable and has the value {old}; {hint}");
            self.invalid(field, new, problem);
        }
    }

    pub(super) fn push(&mut self, field: impl Into<String>, problem: impl Into<String>) {
        self.0.push(FieldError::new(field, problem));
    }

    /// Drops the errors of one field.
    pub(super) fn ignore(&mut self, field: &str) {
        self.0.retain(|error| error.field != field);
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

/// A value as messages quote it, shortened.
pub(super) fn quoted(value: impl fmt::Debug) -> String {
    shortened(format!("{value:?}"), QUOTE_LIMIT)
}

/// The beginning of a text, so that a client's megabytes are not sent back.
pub(super) fn shortened(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
