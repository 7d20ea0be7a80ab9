//! Texts that stand in for values, so that reading gets past a field whose value is not known or
//! not right.

use super::problem::What;

/// Between them, most types find one that they take.
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

/// The texts that were tried for one field.
#[derive(Debug, Default)]
pub(super) struct Tried {
    words: usize,
    texts: usize,
}

impl Tried {
    /// Another text to try after this went wrong; none when there is no further one.
    pub(super) fn next(&mut self, what: &What) -> Option<&'static str> {
        match what {
            What::NotOneOf(words) => {
                self.words += 1;
                words.get(self.words - 1).copied()
            }
            _ => {
                self.texts += 1;
                TEXTS.get(self.texts - 1).copied()
            }
        }
    }
}
