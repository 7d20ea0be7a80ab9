//! Patterns: translation of Go's regular expressions to those of the `regex` crate.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

/// The memory limit of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 2 << 20;

/// Go's limit on repetition counts.
const MAX_REPEAT: u32 = 1000;

/// Compiled patterns: a definition is read several times, a rule is evaluated for each item of a list, and
/// compiling takes much longer than matching.
static COMPILED: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
/// Rules can compute patterns, so that their number must be limited.
const MAX_COMPILED: usize = 1000;

/// Compiles a pattern of a schema, if it is valid.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    let translated = translate(pattern)?;
    let compile = |pattern: &str| {
        let mut builder = RegexBuilder::new(pattern);
        let limited = builder.size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT);
        limited.build()
    };
    compiled_once(&translated, compile).ok()
}

/// Compiles a pattern, unless it was compiled before.
pub(crate) fn compiled_once(
    pattern: &str,
    compile: impl FnOnce(&str) -> Result<Regex, regex::Error>,
) -> Result<Regex, regex::Error> {
    let patterns = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = patterns().get(pattern).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let compiled = compile(pattern)?;
    let mut patterns = patterns();
    if patterns.len() >= MAX_COMPILED {
        patterns.clear();
    }
    patterns.insert(pattern.to_owned(), compiled.clone());
    Ok(compiled)
}

/// Translates where the notations differ: classes are ASCII, and brackets in classes and braces
/// that are not repetitions are literal.
fn translate(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut in_class = false;
    let mut class_start = false;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let starts_class = class_start;
        class_start = false;
        match c {
            '\\' => {
                let (text, left) = escape(after, in_class)?;
                out.push_str(&text);
                rest = left;
                continue;
            }
            '[' if in_class => {
                let named = after
                    .strip_prefix(':')
                    .and_then(|name| name.split_once(":]"))
                    .filter(|(name, _)| name.chars().all(|c| c == '^' || c.is_ascii_lowercase()));
                if let Some((name, left)) = named {
                    out.push_str(&format!("[:{name}:]"));
                    rest = left;
                    continue;
                }
                out.push_str("\\[");
            }
            '[' => {
                in_class = true;
                class_start = true;
                out.push('[');
                if let Some(left) = after.strip_prefix('^') {
                    out.push('^');
                    rest = left;
                    continue;
                }
            }
            // A closing bracket at the start of a class is literal.
            ']' if in_class && starts_class => out.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Doubled, these are set operations in `regex`.
            '&' | '~' if in_class => out.push_str(&format!("\\{c}")),
            '-' if in_class && after.starts_with('-') => out.push_str("\\-"),
            '{' if !in_class => match repetition(after) {
                Some(most) if most > MAX_REPEAT => return None,
                Some(_) => out.push('{'),
                None => out.push_str("\\{"),
            },
            c => out.push(c),
        }
        rest = after;
    }
    Some(out)
}

/// Translates the escape after a backslash; returns the rest.
fn escape(after: &str, in_class: bool) -> Option<(String, &str)> {
    let c = after.chars().next()?;
    let left = after.get(c.len_utf8()..).unwrap_or_default();
    let class = |members: &str, negated: bool| match (in_class, negated) {
        (true, false) => members.to_owned(),
        (_, false) => format!("[{members}]"),
        (_, true) => format!("[^{members}]"),
    };
    let text = match c {
        'd' | 'D' => class("0-9", c == 'D'),
        'w' | 'W' => class("0-9A-Za-z_", c == 'W'),
        's' | 'S' => class("\\t\\n\\f\\r ", c == 'S'),
        'b' if !in_class => "(?-u:\\b)".to_owned(),
        '<' | '>' => c.to_string(),
        'Q' => {
            let (literal, left) = left.split_once("\\E").unwrap_or((left, ""));
            return Some((regex::escape(literal), left));
        }
        'C' | 'K' | 'R' | 'X' | 'Z' => return None,
        c => format!("\\{c}"),
    };
    Some((text, left))
}

/// The largest count of `{n}`, `{n,}` or `{n,m}` after the brace.
fn repetition(after: &str) -> Option<u32> {
    let (inside, _) = after.split_once('}')?;
    let (least, most) = match inside.split_once(',') {
        Some((least, "")) => (least, least),
        Some((least, most)) => (least, most),
        None => (inside, inside),
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().unwrap_or(u32::MAX))
    };
    Some(number(least)?.max(number(most)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_gos() {
        for (pattern, good, bad) in [
            (r"^[a-z]+$", "abc", "ABC"),
            (r"^\d+$", "12", "\u{0661}"),
            (r"^[\w.-]+$", "a_b.c-d", "ä"),
            (r"^[^\s]+$", "a", "a b"),
            (r"^[^[\]]+$", "ab", "a[b"),
            (r"^[]a]+$", "]a", "b"),
            (r"^[a&&b]$", "&", "c"),
            (r"^a{2}$", "aa", "a"),
            (r"^a{,2}$", "a{,2}", "aa"),
            (r"^{x}$", "{x}", "x"),
            (r"^\<a\>$", "<a>", "a"),
            (r"^\Qa.b\E$", "a.b", "axb"),
            (r"^[[:alpha:]]+$", "abc", "1"),
            (r"^\/a\_$", "/a_", "a"),
        ] {
            let regex = compile(pattern).unwrap();
            assert!(regex.is_match(good), "{pattern} {good}");
            assert!(!regex.is_match(bad), "{pattern} {bad}");
        }
    }

    #[test]
    fn patterns_that_go_refuses_are_refused() {
        for pattern in [
            "(",
            "[a",
            "a(?=b)",
            "a{1001}",
            "\\",
            "(((a{1000}){1000}){1000})",
        ] {
            assert!(compile(pattern).is_none(), "{pattern}");
        }
    }
}
