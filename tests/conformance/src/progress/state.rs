//! How far a run is, and how that is said: no stream, no clock.

use crate::output::{Paint, glance};
use crate::report::{CheckResult, Judging, Status};

/// How far a run is.
#[derive(Debug)]
pub(super) struct State {
    total: usize,
    done: usize,
    failed: usize,
    /// The checks under way, the oldest first.
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

    pub(super) fn finish(&mut self, result: &CheckResult, judging: Judging) {
        if let Some(place) = self.running.iter().position(|id| *id == result.id) {
            self.running.remove(place);
        }
        self.done += 1;
        if judging.fails(result) {
            self.failed += 1;
        }
    }

    /// Such as `12/109, 1 failed: ENS-02 CLB-04 …`, in at most so many columns, without a new line.
    pub(super) fn line(&self, width: usize, paint: Paint) -> String {
        // Checks that repeat may be more than were announced.
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
        format!(
            "{counts}{}{colon}{}",
            paint.bad(failed),
            paint.faint(running)
        )
    }
}

/// One line for a finished check, such as `failed ENS-02 MUST (3 ms): got status Fail`.
pub(super) fn finished(result: &CheckResult, judging: Judging, paint: Paint) -> String {
    let word = match result.status {
        Status::Passed if judging.fails(result) => paint.bad("failed "),
        Status::Passed => paint.good("passed "),
        Status::Skipped => paint.faint("skipped"),
        Status::Failed if result.known.is_some() => paint.doubtful("known  "),
        Status::Failed if judging.fails(result) => paint.bad("failed "),
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
