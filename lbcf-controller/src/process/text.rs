//! Texts of messages: an error with its causes, what is too long or too much.

use std::error::Error;
use std::fmt::Display;

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

/// The beginning of a text of more characters, so that a message stays short whatever a user or driver wrote.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The longest text of a driver in a status, an event or a line of the log, in characters.
const DRIVERS_TEXT: usize = 2000;

/// A text that a driver wrote, as it may be shown: not too long, and without control characters.
pub(crate) fn of_driver(text: &str) -> String {
    let visible = |character: char| match character.is_control() {
        true => ' ',
        false => character,
    };
    let beginning = text.chars().take(DRIVERS_TEXT + 1).map(visible);
    shortened(beginning.collect(), DRIVERS_TEXT)
}

/// The first of these, and how many more there are.
pub(crate) fn listed<T: Display>(items: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut items = items.into_iter();
    let named = items.by_ref().take(most).map(|item| item.to_string());
    let named = named.collect::<Vec<_>>().join(", ");
    match items.count() {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d102_a_drivers_text_is_short_and_has_no_control_characters() {
        let forged = "no\r\n2026-11-27 ERROR forged\u{1b}[31m\u{85}";
        let expected = "no  2026-11-27 ERROR forged [31m ";
        assert_eq!(of_driver(forged), expected);
        let long = of_driver(&"ö".repeat(1 << 20));
        assert_eq!(long.chars().count(), DRIVERS_TEXT + 1);
        assert!(long.ends_with("ö…"), "{long}");
        let whole = "x".repeat(DRIVERS_TEXT);
        assert_eq!(of_driver(&whole), whole);
    }

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
