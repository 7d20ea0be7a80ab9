//! Formats values of peers for messages: on one line, and truncated.

use std::fmt::Display;

/// The limit of a value, in characters.
const VALUE: usize = 100;
/// The limit of an included message, in characters.
const MESSAGE: usize = 300;

/// A value in quotes, truncated, with control characters escaped.
pub(super) fn quoted(value: &str) -> String {
    match cut(value, VALUE) {
        (all, false) => format!("{all:?}"),
        (begin, true) => format!("{:?}", format!("{begin}…")),
    }
}

/// A key, in quotes unless it is a plain word.
pub(super) fn key(key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !key.is_empty() && key.chars().count() <= VALUE && key.chars().all(plain) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

/// A message that may contain values of a peer.
pub(super) fn message(text: impl Display) -> String {
    let text = text.to_string();
    let (begin, is_cut) = cut(&text, MESSAGE);
    let mut shown = String::with_capacity(begin.len());
    for c in begin.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if is_cut {
        shown.push('…');
    }
    shown
}

pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut list = String::new();
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            list.push_str(", ");
        }
        list.push_str(word);
    }
    list
}

/// The one of `names` that `wrong` most likely is a misspelling of, for "did you mean": at most a third
/// of its characters differ, letter case aside.
///
/// ```
/// use lbcf_driver_sdk::fields::nearest;
///
/// assert_eq!(nearest("weigth", &["weight", "port"]), Some("weight"));
/// assert_eq!(nearest("name", &["weight", "port"]), None);
/// ```
pub fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    if wrong.len() > 64 {
        return None;
    }
    // At most a third of the name may differ.
    names
        .iter()
        .map(|name| (distance(wrong, name), *name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The Levenshtein distance, ignoring letter case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, l) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (r, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(l != *r);
            diagonal = *cell;
            *cell = replaced.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The first characters of a text, and whether it has more.
fn cut(text: &str, characters: usize) -> (&str, bool) {
    match text.char_indices().nth(characters) {
        Some((end, _)) => (text.get(..end).unwrap_or(text), true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_and_escaped() {
        assert_eq!(quoted("8o"), "\"8o\"");
        assert_eq!(quoted("a\0\n\u{1b}[31m\""), r#""a\0\n\u{1b}[31m\"""#);
        assert_eq!(quoted("🚢"), "\"🚢\"");
        let long = quoted(&"é".repeat(5000));
        assert_eq!(long, format!("\"{}…\"", "é".repeat(100)));
        assert_eq!(key("lbSpec.a-b/c"), "lbSpec.a-b/c");
        assert_eq!(key(""), "\"\"");
        assert_eq!(key("a b"), "\"a b\"");
        assert_eq!(message("a\u{7}b"), "a\\u{7}b");
        assert_eq!(message("x".repeat(999)).chars().count(), 301);
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["listenerPort", "vpcID", "ip"];
        for (wrong, right) in [
            ("lisenerPort", Some("listenerPort")),
            ("LISTENERPORT", Some("listenerPort")),
            ("listener_port", Some("listenerPort")),
            ("vpcId", Some("vpcID")),
            ("vpc", None),
            ("ipp", Some("ip")),
            ("weight", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, &names), right, "{wrong}");
        }
        assert_eq!(nearest(&"p".repeat(100_000), &names), None);
    }
}
