//! Errors with exit codes, and what is written to the streams.

use crate::report::Exit;
use lbcf_serving::streams;
use std::fmt::Display;
use std::io::Write as _;

/// An error with its exit code.
#[derive(Debug)]
pub(super) struct CommandError {
    pub(super) exit: Exit,
    pub(super) message: String,
}

impl CommandError {
    pub(super) fn new(exit: Exit, message: impl Display) -> Self {
        let message = message.to_string();
        Self { exit, message }
    }

    pub(super) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }
}

/// Writes to standard output. A closed pipe is not an error.
pub(super) fn print(text: &str) -> Result<(), CommandError> {
    let written = streams::print(text);
    written.map_err(|problem| CommandError::usage(format!("standard output: {problem}")))
}

/// Writes a line to standard error, if possible.
pub(super) fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
