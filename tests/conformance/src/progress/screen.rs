//! Progress on standard error: a line that is redrawn on a terminal, plain lines elsewhere.

use super::Progress;
use super::state::{State, finished};
use crate::output::{Color, Paint, one_line};
use crate::report::{CheckResult, Judging, Status};
use std::fmt;
use std::io::{IsTerminal, Stderr, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Back to the first column, and nothing in the line any more.
const CLEAR: &str = "\r\u{1b}[2K";

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// One line that is redrawn, in a terminal of so many columns; failures stay above it.
    Redrawn(usize),
    /// A line for each finished check.
    Lines,
    /// Notes only.
    Quiet,
}

/// Progress on a stream. That nobody reads it is no error: a run goes on without spectators.
pub struct Screen<W> {
    manner: Manner,
    paint: Paint,
    judging: Judging,
    inner: Mutex<Inner<W>>,
}

struct Inner<W> {
    state: State,
    stream: W,
}

impl<W> fmt::Debug for Screen<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen")
            .field("manner", &self.manner)
            .finish_non_exhaustive()
    }
}

impl Screen<Stderr> {
    /// Standard error: a terminal gets a line that is redrawn, anything else plain lines. `quiet`
    /// leaves notes only. `checks` is how many there will be.
    #[must_use]
    pub fn on_stderr(checks: usize, quiet: bool, color: Color, judging: Judging) -> Self {
        let stderr = std::io::stderr();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let manner = if quiet {
            Manner::Quiet
        } else if stderr.is_terminal() && !is_dumb {
            let columns = terminal_size::terminal_size_of(&stderr);
            // A full line would wrap, and redrawing clears one only.
            Manner::Redrawn(columns.map_or(79, |(width, _)| usize::from(width.0).saturating_sub(1)))
        } else {
            Manner::Lines
        };
        let paint = Paint {
            on: color.is_on_for(&stderr),
        };
        Self::new(stderr, checks, manner, paint, judging)
    }
}

impl<W: Write> Screen<W> {
    fn new(stream: W, checks: usize, manner: Manner, paint: Paint, judging: Judging) -> Self {
        Self {
            manner,
            paint,
            judging,
            inner: Mutex::new(Inner {
                state: State::new(checks),
                stream,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<W>> {
        // Counts for the eye: worth showing even if a writer panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line that stays, if there is one, and the line that is redrawn.
    fn show(&self, inner: &mut Inner<W>, line: Option<&str>) {
        let mut text = String::new();
        if let Manner::Redrawn(_) = self.manner {
            text.push_str(CLEAR);
        }
        if let Some(line) = line {
            text.push_str(line);
            text.push('\n');
        }
        if let Manner::Redrawn(width) = self.manner {
            text.push_str(&inner.state.line(width, self.paint));
        }
        if !text.is_empty() {
            let _ = inner.stream.write_all(text.as_bytes());
            let _ = inner.stream.flush();
        }
    }
}

impl<W: Write + Send> Progress for Screen<W> {
    fn started(&self, check: &str) {
        let mut inner = self.inner();
        inner.state.start(check);
        if let Manner::Redrawn(_) = self.manner {
            self.show(&mut inner, None);
        }
    }

    fn finished(&self, result: &CheckResult) {
        let mut inner = self.inner();
        inner.state.finish(result, self.judging);
        let stays = match self.manner {
            Manner::Lines => true,
            Manner::Redrawn(_) => result.status == Status::Failed || self.judging.fails(result),
            Manner::Quiet => return,
        };
        let line = stays.then(|| finished(result, self.judging, self.paint));
        self.show(&mut inner, line.as_deref());
    }

    fn note(&self, text: &str) {
        let mut inner = self.inner();
        self.show(&mut inner, Some(&one_line(text)));
    }

    fn ended(&self) {
        if let Manner::Redrawn(_) = self.manner {
            let mut inner = self.inner();
            let _ = inner.stream.write_all(CLEAR.as_bytes());
            let _ = inner.stream.flush();
        }
    }
}

#[cfg(test)]
mod tests;
