//! The error for an id that no defect has.

use crate::Defect;
use std::str::FromStr;

/// A text that names no [`Defect`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?}: no such defect; {}", .nearest.iter().fold(String::from("the nearest are"), |text, id| text + " " + id) + " (--list-defects shows all)")]
pub struct UnknownDefect {
    given: String,
    nearest: Vec<&'static str>,
}

impl UnknownDefect {
    const PROPOSALS: usize = 5;

    /// The five ids that are most similar to the text, most similar first.
    #[must_use]
    pub fn nearest(&self) -> &[&'static str] {
        &self.nearest
    }

    fn new(given: &str) -> Self {
        // Longer texts are cut: neither the message nor the search needs more.
        let given: String = given.chars().take(60).collect();
        let lower = given.to_lowercase();
        let mut nearest: Vec<_> = Defect::ALL.iter().map(|defect| defect.id()).collect();
        // A stable sort keeps equally similar ids in the order of the table.
        nearest.sort_by_cached_key(|id| strsim::damerau_levenshtein(&lower, id));
        nearest.truncate(Self::PROPOSALS);
        Self { given, nearest }
    }
}

impl FromStr for Defect {
    type Err = UnknownDefect;

    fn from_str(text: &str) -> Result<Self, UnknownDefect> {
        let found = Self::ALL.iter().find(|defect| defect.id() == text.trim());
        found.copied().ok_or_else(|| UnknownDefect::new(text))
    }
}
