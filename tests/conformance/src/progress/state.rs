//! The state of the progress and its text, without a stream or a clock.

use crate::output::{Paint, glance};
use crate::report::{CheckResult, FailurePolicy, Status};

#[derive(Debug)]
pub(super) struct State {
    total: usize,
    done: usize,
    failed: usize,
    /// The running checks, the oldest first.
    running: Vec<String>,
}

impl State {
    pub(super) fn new(total: usize) -> Self {
        Self {
            total,
            done: 0,
            failed: 0,
            running: Vec::new(),
        }
    }

    pub(super) fn start(&mut self, check: &str) {
        self.running.push(check.to_owned());
    }

    pub(super) fn finish(&mut self, result: &CheckResult, policy: FailurePolicy) {
        self.running.retain(|id| *id != result.id);
        self.done += 1;
        if policy.fails(result) {
            self.failed += 1;
        }
    }

    /// A line such as `12/109, 1 failed: ENS-02 CLB-04 …`, of at most `width` columns.
    pub(super) fn line(&self, width: usize, paint: Paint) -> String {
        // More checks than announced may finish.
        let total = self.total.max(self.done);
        let counts = format!("{}/{total}", self.done);
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let mut left = width.saturating_sub(counts.len() + failed.len() + 2);
        let mut running = String::new();
        for id in &self.running {
            // Ids are ASCII, so bytes are columns; two are for the ellipsis.
            if left < id.len() + 3 {
                running.push_str(" …");
                break;
            }
            left -= id.len() + 1;
            running.push(' ');
            running.push_str(id);
        }
        let colon = if running.is_empty() { "" } else { ":" };
        let (failed, running) = (paint.bad(&failed), paint.faint(&running));
        format!("{counts}{failed}{colon}{running}")
    }
}

/// One line for a finished check, such as `failed ENS-02 MUST (3 ms): got status Fail`.
pub(super) fn finished(result: &CheckResult, policy: FailurePolicy, paint: Paint) -> String {
    let word = match result.status {
        Status::Passed if policy.fails(result) => paint.bad("failed "),
        Status::Passed => paint.good("passed "),
        Status::Skipped => paint.faint("skipped"),
        Status::Failed if result.known.is_some() => paint.doubtful("known  "),
        Status::Failed if policy.fails(result) => paint.bad("failed "),
        Status::Failed => paint.doubtful("warning"),
    };
    let id = glance(&result.id);
    let mut line = format!("{word} {id} {} ({} ms)", result.level, result.ms);
    let reason = glance(&result.reason);
    if !reason.is_empty() {
        line.push_str(": ");
        line.push_str(&reason);
    }
    line
}

#[cfg(test)]
mod tests;
