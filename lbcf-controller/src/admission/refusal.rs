//! How admission says no.

use std::fmt;

/// How much of a value is quoted.
const QUOTE_LIMIT: usize = 100;

/// How long one reason, and how long all that is told together, can get.
const REASON_LIMIT: usize = 1000;
const MESSAGE_LIMIT: usize = 8000;

/// How many refusals are told of one object.
const TOLD_LIMIT: usize = 20;

/// What is wrong with one field: its path, its value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    field: String,
    problem: String,
}

impl Refusal {
    /// A value that is not one of those that are allowed.
    pub(super) fn value(
        field: impl Into<String>,
        value: impl fmt::Debug,
        allowed: impl fmt::Display,
    ) -> Self {
        Self {
            field: field.into(),
            problem: format!("{}: {allowed}", quoted(value)),
        }
    }

    /// Something that is missing, or that should not be there at all.
    pub(super) fn field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// Whether it is about just this field.
    pub(super) fn is_about(&self, field: &str) -> bool {
        self.field == field
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// A value as messages show it: not more of it than anybody reads.
pub(super) fn quoted(value: impl fmt::Debug) -> String {
    shortened(format!("{value:?}"), QUOTE_LIMIT)
}

/// The beginning of a text: whoever sends megabytes does not get them back.
pub(super) fn shortened(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The faults of a new state that its old state did not have: nobody is kept from changing one
/// thing by another that was let pass long ago.
pub(super) fn not_known_before(new: Vec<Refusal>, old: Option<Vec<Refusal>>) -> Vec<Refusal> {
    let known = old.unwrap_or_default();
    new.into_iter()
        .filter(|refusal| !known.contains(refusal))
        .collect()
}

/// A no, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denial {
    /// It may not be done.
    Refused(String),
    /// Whether it may be done cannot be told now.
    Unknown(String),
}

impl Denial {
    pub(super) fn message(&self) -> &str {
        let (Self::Refused(message) | Self::Unknown(message)) = self;
        message
    }

    /// The message as clients get it.
    pub(super) fn told(&self) -> String {
        shortened(self.message().to_owned(), MESSAGE_LIMIT)
    }

    /// The word for programs in the status that clients get. `Invalid` would fit better, but some
    /// kubectls show no message with it.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Refused(_) => "Forbidden",
            Self::Unknown(_) => "InternalError",
        }
    }

    /// The HTTP status that clients get.
    pub(super) const fn code(&self) -> u16 {
        match self {
            Self::Refused(_) => 403,
            // Not 503: clients would take it as an order to try again at once.
            Self::Unknown(_) => 500,
        }
    }
}

/// Says no where there is anything to refuse, with all of it.
pub(super) fn unless_none(refusals: &[Refusal]) -> Result<(), Denial> {
    if refusals.is_empty() {
        return Ok(());
    }
    let messages = refusals.iter().map(Refusal::to_string).collect();
    Err(Denial::Refused(told(messages).join("; ")))
}

/// Says no where any of several says no, each reason once (b97). Several are told apart by
/// brackets.
pub(super) fn all_of(results: impl IntoIterator<Item = Result<(), Denial>>) -> Result<(), Denial> {
    let mut denials: Vec<Denial> = Vec::new();
    for denial in results.into_iter().filter_map(Result::err) {
        if !denials
            .iter()
            .any(|told| told.message() == denial.message())
        {
            denials.push(denial);
        }
    }
    if denials.len() <= 1 {
        return denials.pop().map_or(Ok(()), Err);
    }
    let is_certain = denials
        .iter()
        .any(|denial| !matches!(denial, Denial::Unknown(_)));
    let messages = denials
        .iter()
        .map(|denial| format!("[{}]", denial.message()))
        .collect();
    let message = told(messages).join(", ");
    Err(if is_certain {
        Denial::Refused(message)
    } else {
        Denial::Unknown(message)
    })
}

/// As many messages as anybody reads.
fn told(messages: Vec<String>) -> Vec<String> {
    let mut messages: Vec<String> = messages
        .into_iter()
        .map(|message| shortened(message, REASON_LIMIT))
        .collect();
    if messages.len() > TOLD_LIMIT {
        let more = messages.len() - TOLD_LIMIT;
        messages.truncate(TOLD_LIMIT);
        messages.push(format!("and {more} more"));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_field_value_and_what_is_allowed() {
        let refusal = Refusal::value("spec.driverType", "Socket", "must be Webhook");
        assert_eq!(
            refusal.to_string(),
            r#"spec.driverType: "Socket": must be Webhook"#
        );
        let long = Refusal::value("spec.url", "ü".repeat(5000), "too long").to_string();
        assert!(long.chars().count() < 130, "{long}");
    }

    #[test]
    fn all_refusals_are_told_up_to_a_limit() {
        assert_eq!(unless_none(&[]), Ok(()));
        let refusals: Vec<_> = (0..30)
            .map(|i| Refusal::field(format!("f{i}"), "wrong"))
            .collect();
        let denial = unless_none(&refusals).unwrap_err();
        assert!(denial.message().starts_with("f0: wrong; f1: wrong; "));
        assert!(
            denial.message().ends_with("f19: wrong; and 10 more"),
            "{denial:?}"
        );
    }

    #[test]
    fn b97_denials_are_told_once_and_apart() {
        let invalid = |message: &str| Err(Denial::Refused(message.into()));
        let unknown = |message: &str| Err(Denial::Unknown(message.into()));
        assert_eq!(all_of([Ok(()), Ok(())]), Ok(()));
        assert_eq!(all_of([invalid("a"), Ok(()), invalid("a")]), invalid("a"));
        assert_eq!(
            all_of([unknown("a"), invalid("b"), unknown("a")]),
            invalid("[a], [b]")
        );
        assert_eq!(all_of([unknown("a"), unknown("b")]), unknown("[a], [b]"));
    }

    #[test]
    fn what_was_wrong_before_is_not_refused_again() {
        let [a, b] = ["a", "b"].map(|field| Refusal::field(field, "wrong"));
        let new = vec![a.clone(), b.clone()];
        assert_eq!(not_known_before(new.clone(), Some(vec![a])), [b]);
        assert_eq!(not_known_before(new.clone(), None), new);
    }
}
