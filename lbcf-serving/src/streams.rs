//! Standard output, whose reader may end first, and the colors of terminals.

use std::io::{self, ErrorKind, IsTerminal, Write as _};

/// Writes a text to standard output.
///
/// # Errors
/// The operating system's; for a closed pipe [`is_closed`] is true.
pub fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes a text to standard output. A pipe that its reader closes before the end, as `head` does, is no error.
///
/// # Errors
/// The operating system's, such as that of a full disk.
pub fn print(text: &str) -> io::Result<()> {
    match write(text) {
        Err(error) if !is_closed(&error) => Err(error),
        _ => Ok(()),
    }
}

/// True for an error of writing to a pipe that its reader has closed.
#[must_use]
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe
}

/// True on a terminal that shows colors, unless the environment has `NO_COLOR`, set and not empty, or `TERM=dumb`.
pub fn has_color(stream: &impl IsTerminal) -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_refused && !is_dumb()
}

/// True if the terminal cannot move its cursor: `TERM=dumb`.
#[must_use]
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}
