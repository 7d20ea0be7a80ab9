//! Makes texts of drivers safe for terminals: without control characters, and of limited length.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest text for people, in bytes; the JSON report has more.
pub(crate) const SHOWN: usize = 2048;

/// The longest reason below a check's line, in bytes.
const GLANCED: usize = 240;

/// Escapes control characters and invisible characters. Newlines and tabs stay.
///
/// ```
/// use lbcf_conformance::output::visible;
///
/// assert_eq!(visible("a\u{1b}[2Jb\n"), "a\\x1b[2Jb\n");
/// assert_eq!(visible("\u{202e}reversed"), "\\u{202e}reversed");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\r' => shown.push_str("\\r"),
            c if c.is_ascii() && is_hidden(c) => {
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c if is_hidden(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// True if a character controls the terminal or the direction of text, is invisible, or is not
/// allowed in XML.
pub(crate) fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => true,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    }
}

/// The visible text on one line, with white space replaced by single spaces.
///
/// ```
/// assert_eq!(lbcf_conformance::output::one_line(" a\n  b\t"), "a b");
/// ```
pub fn one_line(text: &str) -> String {
    let text = cut(text, SHOWN);
    let visible = visible(&text);
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [`one_line`], cut after 240 bytes.
pub(crate) fn glance(text: &str) -> String {
    one_line(&cut(text, GLANCED))
}

/// The visible text, cut after 2 kB.
pub fn shown(text: &str) -> String {
    visible(&cut(text, SHOWN)).into_owned()
}

/// The first `limit` bytes in whole characters, with the number of remaining bytes.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text.len() - end {
        0 => Cow::Borrowed(text),
        left => Cow::Owned(format!("{}… ({left} more bytes)", &text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("🦀🦀", 5), "🦀… (4 more bytes)");
        let long = "x".repeat(1 << 20);
        assert!(one_line(&long).len() < SHOWN + 64);
        assert!(shown(&long).ends_with("… (1046528 more bytes)"));
    }

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(visible("\0\u{7f}\u{85}"), "\\x00\\x7f\\u{85}");
        assert_eq!(visible("a\r\nb\tc"), "a\\r\nb\tc");
        assert_eq!(visible("\u{ffff}\u{feff}"), "\\u{ffff}\\u{feff}");
        assert!(matches!(visible("plain ü 🦀"), Cow::Borrowed(_)));
    }
}
