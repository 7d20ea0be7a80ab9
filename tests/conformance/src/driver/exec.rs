//! A driver as a process of the kit's: started on a free port, killed with all that it started,
//! its output kept for when something goes wrong.

use crate::output::visible;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// How many lines of output are kept.
const LINES: usize = 200;
/// How many of them people are shown.
const SHOWN: usize = 40;
/// How long a line may be, in bytes.
const LINE: usize = 2000;
/// How long a process may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Why a driver cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The command has no place for the port, and no `PORT` either.
    #[error(
        "--exec {command:?}: there is no {{port}} in it, so the driver would not know where to listen (the variable PORT is set, too: write $PORT)"
    )]
    NoPort {
        /// The command.
        command: String,
    },
    /// No port is free.
    #[error("no free port for the driver: {0}")]
    Port(#[source] std::io::Error),
    /// The shell cannot be started.
    #[error("--exec {command:?}: {source}")]
    Start {
        /// The command.
        command: String,
        /// What is wrong.
        #[source]
        source: std::io::Error,
    },
}

/// What runs: the shell, and the group of all that it started.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Nothing, once all in it were killed: the number may be somebody else's then.
    group: Option<Pid>,
    /// How the shell ended, if it did so by itself.
    ended: Option<ExitStatus>,
}

/// A driver that the kit started. Dropping it kills it and all that it started.
#[derive(Debug)]
pub struct Exec {
    command: String,
    port: u16,
    process: Mutex<Option<Process>>,
    output: Arc<Mutex<VecDeque<String>>>,
    /// Those who keep it.
    readers: Mutex<Vec<JoinHandle<()>>>,
}

impl Exec {
    /// Starts a command by the shell, with `{port}` replaced by a free port.
    ///
    /// # Errors
    /// [`ExecError`].
    pub fn start(command: &str) -> Result<Self, ExecError> {
        if !command.contains("{port}") && !command.contains("PORT") {
            let command = command.to_owned();
            return Err(ExecError::NoPort { command });
        }
        let exec = Self {
            command: command.to_owned(),
            port: free_port().map_err(ExecError::Port)?,
            process: Mutex::new(None),
            output: Arc::default(),
            readers: Mutex::default(),
        };
        exec.spawn()?;
        Ok(exec)
    }

    /// The driver's port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Kills the driver and starts it anew on the same port.
    ///
    /// # Errors
    /// [`ExecError`].
    pub async fn restart(&self) -> Result<(), ExecError> {
        self.kill().await;
        self.spawn()
    }

    /// Whether the process has ended by itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let mut process = lock(&self.process);
        process.as_mut().is_none_or(Process::has_ended)
    }

    /// The last lines that the driver wrote.
    #[must_use]
    pub fn output(&self) -> Vec<String> {
        lock(&self.output).iter().cloned().collect()
    }

    /// How it ended, if it did, and its last lines, for people.
    pub async fn last_words(&self) -> String {
        let state = if self.has_ended() {
            // What it wrote may still be on its way here.
            let readers = std::mem::take(&mut *lock(&self.readers));
            let _ = tokio::time::timeout(GRACE, futures::future::join_all(readers)).await;
            self.state()
        } else {
            "its process runs".to_owned()
        };
        let lines = self.output();
        if lines.is_empty() {
            return format!("{state}, and wrote nothing");
        }
        let shown = &lines[lines.len().saturating_sub(SHOWN)..];
        let shown: Vec<String> = shown
            .iter()
            .map(|line| visible(line).into_owned())
            .collect();
        format!("{state}; the last that it wrote:\n{}", shown.join("\n"))
    }

    /// How it ended, such as `its process ended with exit status: 1`.
    pub(super) fn state(&self) -> String {
        let ended = lock(&self.process)
            .as_ref()
            .and_then(|process| process.ended);
        match ended {
            Some(status) => format!("its process ended with {status}"),
            None => "its process ended".to_owned(),
        }
    }

    /// Ends the process and all that it started: asks first, and does not ask long.
    pub async fn stop(&self) {
        let process = lock(&self.process).take();
        if let Some(mut process) = process {
            process.signal(Signal::TERM);
            let _ = tokio::time::timeout(GRACE, process.child.wait()).await;
            process.kill();
            // Killed processes end.
            let _ = process.child.wait().await;
        }
    }

    /// Kills the process without asking, as a machine that fails does.
    async fn kill(&self) {
        let process = lock(&self.process).take();
        if let Some(mut process) = process {
            process.kill();
            // Killed processes end.
            let _ = process.child.wait().await;
        }
    }

    fn spawn(&self) -> Result<(), ExecError> {
        let port = self.port.to_string();
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(self.command.replace("{port}", &port))
            .env("PORT", &port)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| ExecError::Start {
                command: self.command.clone(),
                source,
            })?;
        let mut readers = lock(&self.readers);
        if let Some(stdout) = child.stdout.take() {
            readers.push(tokio::spawn(keep(stdout, self.output.clone())));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(tokio::spawn(keep(stderr, self.output.clone())));
        }
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        *lock(&self.process) = Some(Process {
            child,
            group: group.and_then(Pid::from_raw),
            ended: None,
        });
        Ok(())
    }
}

impl Process {
    /// Whether the shell has ended. What it started and left behind is killed then, too: a driver
    /// that a shell does not wait for is none that can be judged.
    fn has_ended(&mut self) -> bool {
        match self.child.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                self.ended = Some(status);
                self.kill();
                true
            }
            Err(_) => true,
        }
    }

    /// Signals all in the group; that they are gone already is as well.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills all in the group, which has no number after that.
    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// Keeps the last lines of an output. A line without an end takes no more room than others.
async fn keep(mut output: impl AsyncRead + Unpin, kept: Arc<Mutex<VecDeque<String>>>) {
    let mut chunk = vec![0; 8 << 10];
    let mut line = Vec::new();
    loop {
        let read = match output.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        for byte in &chunk[..read] {
            if *byte == b'\n' {
                keep_line(&mut line, &kept);
            } else if line.len() < LINE {
                line.push(*byte);
            }
        }
    }
    if !line.is_empty() {
        keep_line(&mut line, &kept);
    }
}

fn keep_line(line: &mut Vec<u8>, kept: &Mutex<VecDeque<String>>) {
    let text = String::from_utf8_lossy(line).trim_end().to_owned();
    line.clear();
    let mut kept = lock(kept);
    kept.push_back(text);
    while kept.len() > LINES {
        kept.pop_front();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
