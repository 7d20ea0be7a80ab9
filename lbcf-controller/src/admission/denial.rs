//! Denials: why a request is not admitted, and the status that the client receives.

use super::field_error::shortened;
use serde::Serialize;

/// The longest single reason, in characters.
const REASON_LIMIT: usize = 1000;
/// The longest message, in characters.
const MESSAGE_LIMIT: usize = 8000;
/// How many reasons a message lists.
const REASON_COUNT: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denial {
    /// The request violates a rule, or a driver rejected it.
    Forbidden(String),
    /// Whether the request is valid cannot be determined now.
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

/// Denies where any of the checks denies, with each distinct message once (b97). Several messages
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
}
