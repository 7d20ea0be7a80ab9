//! Tables of tests.

use serde_json::Value;

/// The rows of a table: each line that is not blank has as many cells between ` | `.
pub(crate) fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let lines = table.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            Vec::from_iter(line.splitn(N, " | "))
                .try_into()
                .expect(line)
        })
        .collect()
}

/// A cell that is JSON.
pub(crate) fn json(cell: &str) -> Value {
    serde_json::from_str(cell).expect(cell)
}
