/// The problems of a slice that are kept; the others are only counted, because a thousand endpoints may
/// have the same.
const KEPT: usize = 3;

/// The first problems of a slice, each with its field.
#[derive(Debug, Default)]
pub(super) struct Problems {
    texts: Vec<String>,
    others: usize,
}

impl Problems {
    pub(super) fn add(&mut self, field: &str, problem: &str) {
        if self.texts.len() < KEPT {
            self.texts.push(format!("{field}: {problem}"));
        } else {
            self.others += 1;
        }
    }

    /// The value, or none and a problem.
    pub(super) fn catch<T>(&mut self, field: &str, read: serde_json::Result<T>) -> Option<T> {
        read.inspect_err(|error| self.add(field, &error.to_string()))
            .ok()
    }

    pub(super) fn texts(mut self) -> Vec<String> {
        if self.others > 0 {
            self.texts.push(format!("and {} more", self.others));
        }
        self.texts
    }
}
