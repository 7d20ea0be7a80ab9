//! Programs of the fixture: observers, and commands that restart the driver or make its cloud fail.

use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// The longest quoted part of a program's error output, in characters.
const EXCERPT: usize = 300;

/// Runs a program and returns its standard output.
///
/// # Errors
/// The reason, when it cannot be started, does not end in time or exits with a failure.
pub(crate) async fn run(words: &[String], timeout: Duration) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.kill_on_drop(true);
    let output = tokio::time::timeout(timeout, command.output())
        .await
        .map_err(|_| format!("it was still running after {timeout:?}"))?
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let excerpt: String = stderr.chars().take(EXCERPT).collect();
    let (status, excerpt) = (output.status, excerpt.trim());
    Err(format!("it ended with {status}: {excerpt}"))
}
