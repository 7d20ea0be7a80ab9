//! Patterns: Go's regular expressions, in the words of another engine of the same power.

use regex::{Regex, RegexBuilder};

/// The memory that a compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 2 << 20;

/// The most that Go repeats something.
const MAX_REPEAT: u32 = 1000;

/// Compiles a pattern; the error is worded as a detail of a message.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let refused = |why: &str| Err(format!("error parsing regexp: {why}"));
    let translated = match translate(pattern) {
        Ok(translated) => translated,
        Err(why) => return refused(&why),
    };
    match RegexBuilder::new(&translated)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .build()
    {
        Ok(regex) => Ok(regex),
        Err(regex::Error::CompiledTooBig(_)) => refused("expression too large"),
        Err(error) => {
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            refused(&format!("{}: `{pattern}`", go_words(why)))
        }
    }
}

/// The commonest complaints as Go words them.
fn go_words(why: &str) -> &str {
    match why {
        "unclosed group" => "missing closing )",
        "unopened group" => "unexpected )",
        "unclosed character class" => "missing closing ]",
        "repetition operator missing expression" => "missing argument to repetition operator",
        other
            if other.contains("look-around")
                || other.contains("flag")
                || other.contains("backreferences") =>
        {
            "invalid or unsupported Perl syntax"
        }
        "unrecognized escape sequence" => "invalid escape sequence",
        other => other,
    }
}

/// The same expression where the two notations differ: classes are of ASCII letters, brackets in a
/// class and braces that repeat nothing mean themselves.
fn translate(pattern: &str) -> Result<String, String> {
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
            // A bracket that closes at once is one of the class.
            ']' if in_class && starts_class => out.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Two of these are set operations elsewhere.
            '&' | '~' if in_class => out.push_str(&format!("\\{c}")),
            '-' if in_class && after.starts_with('-') => out.push_str("\\-"),
            '{' if !in_class => match repetition(after) {
                Some(most) if most > MAX_REPEAT => {
                    return Err(format!("invalid repeat count: `{rest}`"));
                }
                Some(_) => out.push('{'),
                None => out.push_str("\\{"),
            },
            c => out.push(c),
        }
        rest = after;
    }
    Ok(out)
}

/// An escape after its backslash, and what follows.
fn escape(after: &str, in_class: bool) -> Result<(String, &str), String> {
    let Some(c) = after.chars().next() else {
        return Err("trailing backslash at end of expression: ``".to_owned());
    };
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
            return Ok((regex::escape(literal), left));
        }
        'C' | 'K' | 'R' | 'X' | 'Z' => {
            return Err(format!("invalid escape sequence: `\\{c}`"));
        }
        c => format!("\\{c}"),
    };
    Ok((text, left))
}

/// The most repetitions of `{n}`, `{n,}` or `{n,m}`, given what follows the brace.
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
    fn they_match_what_gos_match() {
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
    fn what_go_refuses_is_refused() {
        for (pattern, why) in [
            ("(", "missing closing ): `(`"),
            ("[a", "missing closing ]"),
            ("a(?=b)", "invalid or unsupported Perl syntax"),
            ("a{1001}", "invalid repeat count"),
            ("\\", "trailing backslash at end of expression: ``"),
            ("(((a{1000}){1000}){1000})", "expression too large"),
        ] {
            let error = compile(pattern).unwrap_err();
            assert!(error.starts_with("error parsing regexp: "), "{error}");
            assert!(error.contains(why), "{pattern}: {error}");
        }
    }
}
