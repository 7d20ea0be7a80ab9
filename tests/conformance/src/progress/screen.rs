//! Progress on standard error: a line that is redrawn on a terminal, plain lines elsewhere.

use super::Progress;
use super::state::{State, finished};
use crate::output::{Color, Paint, one_line};
use crate::report::{CheckResult, FailurePolicy, Status};
use crate::sync::lock;
use lbcf_serving::streams;
use std::fmt::Debug;
use std::io::{IsTerminal, Stderr, Write};
use std::sync::{Mutex, MutexGuard};

/// Moves to the first column and clears the line.
const CLEAR: &str = "\r\u{1b}[2K";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgressMode {
    /// One redrawn line, in a terminal of this many columns; failures stay above it.
    Redrawn(usize),
    /// A line for each finished check.
    Lines,
    Quiet,
}

/// Progress on a stream. A closed stream is not an error.
#[derive(Debug)]
pub struct Screen<W> {
    mode: ProgressMode,
    paint: Paint,
    policy: FailurePolicy,
    /// True if the calls of each check are shown before its result.
    shows_calls: bool,
    inner: Mutex<Inner<W>>,
}

#[derive(Debug)]
struct Inner<W> {
    state: State,
    stream: W,
}

impl Screen<Stderr> {
    /// On standard error: a redrawn line on a terminal, plain lines elsewhere, and only notes with
    /// `quiet`. `checks` is the number of checks that will run.
    pub fn on_stderr(checks: usize, quiet: bool, color: Color, policy: FailurePolicy) -> Self {
        let stderr = std::io::stderr();
        let mode = if quiet {
            ProgressMode::Quiet
        } else if stderr.is_terminal() && !streams::is_dumb() {
            let columns = terminal_size::terminal_size_of(&stderr);
            // A full line would wrap, and redrawing clears one only.
            ProgressMode::Redrawn(
                columns.map_or(79, |(width, _)| usize::from(width.0).saturating_sub(1)),
            )
        } else {
            ProgressMode::Lines
        };
        let paint = Paint {
            on: color.is_on_for(&stderr),
        };
        Self::new(stderr, checks, mode, paint, policy)
    }
}

impl<W: Write> Screen<W> {
    /// Shows each call as a curl command, with its response.
    #[must_use]
    pub const fn with_calls(mut self, shows_calls: bool) -> Self {
        self.shows_calls = shows_calls;
        self
    }

    fn new(
        stream: W,
        checks: usize,
        mode: ProgressMode,
        paint: Paint,
        policy: FailurePolicy,
    ) -> Self {
        Self {
            mode,
            paint,
            policy,
            shows_calls: false,
            inner: Mutex::new(Inner {
                state: State::new(checks),
                stream,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<W>> {
        lock(&self.inner)
    }

    /// Writes a permanent line, if any, and the redrawn line.
    fn show(&self, inner: &mut Inner<W>, line: Option<&str>) {
        let mut text = String::new();
        if let ProgressMode::Redrawn(_) = self.mode {
            text.push_str(CLEAR);
        }
        if let Some(line) = line {
            text.push_str(line);
            text.push('\n');
        }
        if let ProgressMode::Redrawn(width) = self.mode {
            text.push_str(&inner.state.line(width, self.paint));
        }
        if !text.is_empty() {
            let _ = inner.stream.write_all(text.as_bytes());
            let _ = inner.stream.flush();
        }
    }
}

impl<W: Write + Send + Debug> Progress for Screen<W> {
    fn started(&self, check: &str) {
        let mut inner = self.inner();
        inner.state.start(check);
        if let ProgressMode::Redrawn(_) = self.mode {
            self.show(&mut inner, None);
        }
    }

    fn finished(&self, result: &CheckResult) {
        let mut inner = self.inner();
        for exchange in result.exchanges.iter().filter(|_| self.shows_calls) {
            for line in exchange.described(&result.id).lines() {
                self.show(&mut inner, Some(&one_line(line)));
            }
        }
        inner.state.finish(result, self.policy);
        let stays = match self.mode {
            ProgressMode::Lines => true,
            ProgressMode::Redrawn(_) => {
                result.status == Status::Failed || self.policy.fails(result)
            }
            ProgressMode::Quiet => return,
        };
        let line = stays.then(|| finished(result, self.policy, self.paint));
        self.show(&mut inner, line.as_deref());
    }

    fn note(&self, text: &str) {
        let mut inner = self.inner();
        self.show(&mut inner, Some(&one_line(text)));
    }

    fn ended(&self) {
        if let ProgressMode::Redrawn(_) = self.mode {
            let mut inner = self.inner();
            let _ = inner.stream.write_all(CLEAR.as_bytes());
            let _ = inner.stream.flush();
        }
    }
}

#[cfg(test)]
mod tests;
