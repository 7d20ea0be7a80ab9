//! A defect's id that is none.

use super::Defect;
use std::str::FromStr;

/// A text that names no [`Defect`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?}: no such defect; {}", .nearest.iter().fold(String::from("the nearest are"), |text, id| text + " " + id) + " (--list-defects shows all)")]
pub struct UnknownDefect {
    given: String,
    nearest: Vec<&'static str>,
}

impl UnknownDefect {
    /// How many ids a message proposes.
    const PROPOSALS: usize = 5;

    /// The ids that look most like the text, the nearest first.
    #[must_use]
    pub fn nearest(&self) -> &[&'static str] {
        &self.nearest
    }

    fn new(given: &str) -> Self {
        let mut nearest: Vec<_> = Defect::ALL.iter().map(|defect| defect.id()).collect();
        // Stable: what is equally near stays in the table's order.
        nearest.sort_by_key(|id| std::cmp::Reverse(likeness(given, id)));
        nearest.truncate(Self::PROPOSALS);
        Self {
            // A message needs no more of it.
            given: given.chars().take(60).collect(),
            nearest,
        }
    }
}

/// How many pairs of letters of `id` the text has too, in hundredths.
fn likeness(text: &str, id: &str) -> usize {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let lower = text.to_lowercase();
        lower.chars().zip(lower.chars().skip(1)).take(100).collect()
    };
    let (given, wanted) = (pairs(text), pairs(id));
    let common = wanted.iter().filter(|pair| given.contains(pair)).count();
    200 * common / (given.len() + wanted.len()).max(1)
}

impl FromStr for Defect {
    type Err = UnknownDefect;

    fn from_str(text: &str) -> Result<Self, UnknownDefect> {
        let found = Self::ALL.iter().find(|defect| defect.id() == text.trim());
        found.copied().ok_or_else(|| UnknownDefect::new(text))
    }
}
