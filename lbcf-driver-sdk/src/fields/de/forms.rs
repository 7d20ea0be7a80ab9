//! The forms of texts, and what a type asks for by its visitor.

use super::Problem;
use crate::fields::number;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Expected, IgnoredAny};
use std::fmt::{self, Write};
use std::str::FromStr;

/// True if a list is read as JSON and not as items separated by commas.
pub(in crate::fields) fn is_json_list(text: &str) -> bool {
    text.trim_start().starts_with('[') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

pub(super) fn word(text: &str) -> BorrowedStrDeserializer<'_, Problem> {
    BorrowedStrDeserializer::new(text)
}

/// An integer without plus, leading zeros or spaces.
pub(super) fn whole<T: FromStr>(text: &str) -> Option<T> {
    is_whole(text).then(|| text.parse().ok()).flatten()
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && (text == "0" || !digits.starts_with('0'))
}

/// True if the text is a number in JSON.
pub(super) fn is_decimal(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
        && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
}

/// True if the type is one of the standard library's `NonZero` types.
pub(super) fn is_nonzero(visitor: &dyn Expected) -> bool {
    /// Inspects the first piece that is written, to avoid an allocation.
    struct Begin(bool);

    impl fmt::Write for Begin {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            self.0 = piece.starts_with("a nonzero ");
            Err(fmt::Error)
        }
    }

    let mut begin = Begin(false);
    // The error stops after the first piece.
    let _ = write!(begin, "{visitor}");
    begin.0
}

/// The type's own description of what it expects, if it is not one of serde's.
pub(super) fn own_words(visitor: &dyn Expected) -> Option<String> {
    let words = visitor.to_string();
    let is_number = |words: &str| {
        let bits = words.strip_prefix(['i', 'u', 'f']);
        bits.is_some_and(|bits| matches!(bits, "8" | "16" | "32" | "64" | "128" | "size"))
    };
    let is_serdes = [
        "a string",
        "a borrowed string",
        "a boolean",
        "a character",
        "a sequence",
        "a map",
        "path string",
        "byte array",
        "unit",
    ];
    let is_serdes = is_serdes.contains(&words.as_str()) || is_number(&words);
    let is_derived = [
        "a nonzero ",
        number::BOUNDED,
        "struct ",
        "tuple struct ",
        "enum ",
        "a tuple of size ",
        "an array of length ",
    ];
    let is_derived = is_derived.iter().any(|begin| words.starts_with(begin));
    (!is_serdes && !is_derived).then_some(words)
}
