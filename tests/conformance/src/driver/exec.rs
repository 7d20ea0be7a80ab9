//! A driver as a child process: started on a reserved port, killed with its process group, its output
//! kept for failures.

use super::process_group::{GRACE, ProcessGroup};
use super::ready;
use crate::exchange::NoResponse;
use crate::numbers::{Numbers, is_free};
use crate::output::visible;
use crate::sync::lock;
use crate::transport::Transport;
use std::collections::VecDeque;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const KEPT_LINES: usize = 200;
const SHOWN_LINES: usize = 40;
/// The limit of a line, in bytes; the rest is cut off.
const MAX_LINE_LENGTH: usize = 2000;

/// Why a driver cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The command contains neither `{port}` nor `PORT`.
    #[error(
        "--exec {command:?}: the command has no {{port}}, so the driver cannot know where to listen (the variable PORT is set, too: write $PORT)"
    )]
    NoPort {
        /// The command as it was given.
        command: String,
    },
    /// Another process listens on the driver's port, so that its responses would pass for the driver's.
    #[error("port {0}, where the driver has to listen, is in use by another process")]
    PortInUse(u16),
    /// The shell cannot be started.
    #[error("--exec {command:?}: {source}")]
    Start {
        /// The command as it was given.
        command: String,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
}

/// A driver that the kit started. Dropping it kills its process group.
#[derive(Debug)]
pub struct Exec {
    command: String,
    port: u16,
    /// Reserve the port, also while the driver restarts.
    _numbers: Numbers,
    /// True if its output appears on this process' standard error.
    is_shown: bool,
    process: Mutex<Option<ProcessGroup>>,
    output: Arc<Mutex<VecDeque<(Instant, String)>>>,
    readers: Mutex<Vec<JoinHandle<()>>>,
}

impl Exec {
    /// Runs a command in a shell, with `{port}` replaced by a port that is reserved for it.
    ///
    /// # Errors
    /// [`ExecError`].
    pub fn start(command: &str) -> Result<Self, ExecError> {
        Self::start_with(command, false)
    }

    /// The same, but what the driver writes appears on this process' standard error, too.
    ///
    /// # Errors
    /// [`ExecError`].
    pub fn start_shown(command: &str) -> Result<Self, ExecError> {
        Self::start_with(command, true)
    }

    fn start_with(command: &str, is_shown: bool) -> Result<Self, ExecError> {
        if !command.contains("{port}") && !command.contains("PORT") {
            let command = command.to_owned();
            return Err(ExecError::NoPort { command });
        }
        let numbers = Numbers::of_this_machine();
        let exec = Self {
            command: command.to_owned(),
            port: numbers.take(0, 0),
            _numbers: numbers,
            is_shown,
            process: Mutex::new(None),
            output: Arc::default(),
            readers: Mutex::default(),
        };
        exec.spawn()?;
        Ok(exec)
    }

    /// The driver's port.
    #[cfg(test)]
    const fn port(&self) -> u16 {
        self.port
    }

    /// Where the driver listens: a program that listens on `localhost` may do so on `::1` alone.
    pub fn url(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Kills the driver and starts it again on the same port.
    ///
    /// # Errors
    /// [`ExecError`].
    pub async fn restart(&self) -> Result<(), ExecError> {
        // Without SIGTERM, as when a machine fails.
        self.end(false).await;
        self.spawn()
    }

    /// Stops the driver as [`stop`](Self::stop) does, and starts it again on the same port.
    ///
    /// # Errors
    /// [`ExecError`].
    pub async fn restart_gracefully(&self) -> Result<(), ExecError> {
        self.end(true).await;
        self.spawn()
    }

    /// True if the process has exited on its own.
    pub fn has_ended(&self) -> bool {
        let mut process = lock(&self.process);
        process.as_mut().is_none_or(ProcessGroup::has_ended)
    }

    /// Waits until the driver responds to a call, whatever the response is.
    ///
    /// # Errors
    /// The last problem, when it does not respond in time, or has exited.
    pub async fn ready(&self, within: Duration) -> Result<(), NoResponse> {
        let transport = Transport::to_url(&self.url(), &crate::transport::Settings::default())
            .map_err(|error| NoResponse::NotConnected(error.to_string()))?;
        ready::wait(&transport, || self.has_ended(), Instant::now() + within).await
    }

    /// The last lines that the driver wrote.
    pub fn output(&self) -> Vec<String> {
        self.output_since(None)
    }

    /// Those that it wrote from this moment on.
    pub(crate) fn output_since(&self, since: impl Into<Option<Instant>>) -> Vec<String> {
        let since = since.into();
        let lines = lock(&self.output);
        let lines = lines
            .iter()
            .filter(|(at, _)| since.is_none_or(|since| *at >= since));
        lines.map(|(_, line)| line.clone()).collect()
    }

    /// The state of the process and its last lines, for people.
    pub async fn last_output(&self) -> String {
        let state = if self.has_ended() {
            self.read_to_end().await;
            self.state()
        } else {
            "its process is running".to_owned()
        };
        let lines = self.output();
        if lines.is_empty() {
            return format!("{state}; it wrote nothing");
        }
        let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        let shown: Vec<_> = shown.iter().map(|line| visible(line)).collect();
        format!("{state}; its last output:\n{}", shown.join("\n"))
    }

    /// The exit status, such as `its process ended with exit status: 1`.
    pub fn state(&self) -> String {
        let ended = lock(&self.process).as_ref().and_then(ProcessGroup::status);
        match ended {
            Some(status) => format!("its process ended with {status}"),
            None => "its process ended".to_owned(),
        }
    }

    /// Stops the whole process group with SIGTERM, and with SIGKILL what has not ended after 2 s.
    pub async fn stop(&self) {
        self.end(true).await;
        self.read_to_end().await;
    }

    /// The pipes of a process that has ended may still contain output.
    async fn read_to_end(&self) {
        let readers = std::mem::take(&mut *lock(&self.readers));
        let _ = tokio::time::timeout(GRACE, futures::future::join_all(readers)).await;
    }

    async fn end(&self, gracefully: bool) {
        let process = lock(&self.process).take();
        if let Some(process) = process {
            process.end(gracefully).await;
        }
    }

    fn spawn(&self) -> Result<(), ExecError> {
        let start_error = |source| ExecError::Start {
            command: self.command.clone(),
            source,
        };
        if !is_free(self.port) {
            return Err(ExecError::PortInUse(self.port));
        }
        let port = self.port.to_string();
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(self.command.replace("{port}", &port))
            .env("PORT", &port)
            // In a pipe, Python would keep what is printed.
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            // By pipes also if it is shown: a terminal that is closed would be an error of the driver.
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(start_error)?;
        let mut readers = lock(&self.readers);
        if let Some(stdout) = child.stdout.take() {
            readers.push(tokio::spawn(keep(
                stdout,
                self.output.clone(),
                self.is_shown,
            )));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(tokio::spawn(keep(
                stderr,
                self.output.clone(),
                self.is_shown,
            )));
        }
        *lock(&self.process) = Some(ProcessGroup::of(child));
        Ok(())
    }
}

/// Keeps the last lines of an output, each up to [`MAX_LINE_LENGTH`].
async fn keep(
    mut output: impl AsyncRead + Unpin,
    kept: Arc<Mutex<VecDeque<(Instant, String)>>>,
    is_shown: bool,
) {
    let mut chunk = vec![0; 8 << 10];
    let mut line = Vec::new();
    loop {
        let read = match output.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        if is_shown {
            // Without a reader there is none to tell.
            let _ = std::io::stderr().write_all(&chunk[..read]);
        }
        for byte in &chunk[..read] {
            if *byte == b'\n' {
                keep_line(&mut line, &kept);
            } else if line.len() < MAX_LINE_LENGTH {
                line.push(*byte);
            }
        }
    }
    if !line.is_empty() {
        keep_line(&mut line, &kept);
    }
}

fn keep_line(line: &mut Vec<u8>, kept: &Mutex<VecDeque<(Instant, String)>>) {
    let text = String::from_utf8_lossy(line).trim_end().to_owned();
    line.clear();
    let mut kept = lock(kept);
    kept.push_back((Instant::now(), text));
    while kept.len() > KEPT_LINES {
        kept.pop_front();
    }
}

#[cfg(test)]
mod tests;
