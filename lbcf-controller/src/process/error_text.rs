//! The text of an error with its causes.

use std::error::Error;

/// The message of an error and of all its sources, without repetition.
pub(crate) fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some errors quote their source.
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer{0}")]
    struct Outer(&'static str, #[source] std::num::ParseIntError);

    #[test]
    fn causes_are_listed_once() {
        let cause = "x".parse::<u8>().unwrap_err();
        let expected = "outer: invalid digit found in string";
        assert_eq!(in_full(&Outer("", cause.clone())), expected);
        assert_eq!(
            in_full(&Outer(": invalid digit found in string", cause)),
            expected
        );
    }
}
