//! Placeholder texts for values that are unknown or wrong.

use super::number;
use super::problem::What;

/// Most types accept at least one of them.
const TEXTS: [&str; 20] = [
    "1",
    "true",
    "1s",
    "a",
    "127.0.0.1",
    "127.0.0.1:1",
    "::1",
    "[::1]:1",
    "10.0.0.0/8",
    "[]",
    "{}",
    "1,1",
    "1,1,1",
    "1.0.0",
    "2020-01-01T00:00:00Z",
    "2020-01-01",
    "https://a.example/",
    "00000000-0000-4000-8000-000000000000",
    "a.example",
    "/a",
];

/// The progress through the placeholders for one field.
#[derive(Debug, Default)]
pub(super) struct Tried {
    bound: bool,
    words: usize,
    texts: usize,
}

impl Tried {
    /// The next placeholder after a problem; `None` after the last.
    pub(super) fn next(&mut self, what: &What) -> Option<String> {
        if let What::Value(problem) = what
            && let Some((min, _)) = problem.strip_prefix("not ").and_then(number::bounds)
            && !std::mem::replace(&mut self.bound, true)
        {
            return Some(min.to_string());
        }
        let (texts, tried) = match what {
            What::NotOneOf(words) => (*words, &mut self.words),
            _ => (&TEXTS[..], &mut self.texts),
        };
        *tried += 1;
        texts.get(*tried - 1).map(|text| (*text).to_owned())
    }
}
