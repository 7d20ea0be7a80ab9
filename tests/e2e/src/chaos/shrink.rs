//! The shortest history that still fails.

use super::history::History;
use super::run::{Finding, run};

/// Leaves out steps as long as the rest still fails: halves first, single steps in the end.
pub async fn shrink(history: &History, finding: Finding) -> (History, Finding) {
    let (mut shortest, mut found) = (history.clone(), finding);
    let mut size = shortest.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < shortest.len() {
            let mut candidate = shortest.clone();
            let end = (at + size).min(candidate.len());
            candidate.steps.drain(at..end);
            match run(&candidate).await {
                Err(finding) => (shortest, found) = (candidate, finding),
                Ok(()) => at += size,
            }
        }
        size /= 2;
    }
    (shortest, found)
}
