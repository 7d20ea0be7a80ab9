//! Patterns with `*` for any text and `?` for any one character, as in rules and filters.

use serde::{Deserialize, Serialize};

/// A pattern for a whole text. Other characters stand for themselves; letter case matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    /// True if the whole text fits.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let text: Vec<char> = text.chars().collect();
        let (mut p, mut t) = (0, 0);
        // Where to go on after a mismatch: behind the last `*`, which then takes one more character.
        let mut last_star = None;
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    last_star = Some((p, t));
                    p += 1;
                }
                Some(&c) if c == '?' || c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => {
                    let Some((star, taken)) = last_star else {
                        return false;
                    };
                    last_star = Some((star, taken + 1));
                    p = star + 1;
                    t = taken + 1;
                }
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }

    /// The pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Glob {
    fn from(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text_and_question_marks_for_one_character() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("lb-*", "lb-1234", true),
            ("lb-*", "LB-1234", false),
            ("*-1?34", "lb-1234", true),
            ("?", "é", true),
            ("?", "", false),
            ("a*b*c", "abxbyc", true),
            ("a*b*c", "abxby", false),
            ("ensureBackend(*)", "ensureBackend(1)", true),
        ] {
            assert_eq!(
                Glob::from(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn many_stars_and_a_long_text_take_no_long_time() {
        let pattern = Glob(format!("{}b", "*a".repeat(500)));
        assert!(!pattern.matches(&"a".repeat(100_000)));
    }
}
