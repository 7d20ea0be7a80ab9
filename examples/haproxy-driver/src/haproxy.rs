//! Talks to HAProxy: to its master, to its workers, and through the files that it reads.

pub mod config;
pub mod master;
pub mod runtime;
mod socket;

use lbcf_driver_sdk::HookError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where everything of one HAProxy is: the folder of `--dir`.
#[derive(Debug, Clone)]
pub struct Layout {
    dir: PathBuf,
    /// The program, for checking files and for starting it.
    pub program: PathBuf,
}

impl Layout {
    /// All paths are below this folder.
    pub fn new(dir: impl Into<PathBuf>, program: impl Into<PathBuf>) -> Self {
        let (dir, program) = (dir.into(), program.into());
        Self { dir, program }
    }

    /// The file with `global` and `defaults`, which is the operator's once it exists.
    #[must_use]
    pub fn base(&self) -> PathBuf {
        self.dir.join("haproxy.cfg")
    }

    /// One file for each load balancer.
    #[must_use]
    pub fn conf_d(&self) -> PathBuf {
        self.dir.join("conf.d")
    }

    /// The master's socket, `-S`.
    #[must_use]
    pub fn master_socket(&self) -> PathBuf {
        self.dir.join("master.sock")
    }

    /// The worker's socket, `stats socket`.
    #[must_use]
    pub fn runtime_socket(&self) -> PathBuf {
        self.dir.join("runtime.sock")
    }

    /// The master's process id, for operators and tests.
    #[must_use]
    pub fn pid_file(&self) -> PathBuf {
        self.dir.join("haproxy.pid")
    }
}

/// What went wrong with HAProxy.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HaproxyError {
    /// A socket does not respond: HAProxy is starting, hangs, or is gone.
    #[error("HAProxy does not respond at its {socket} socket")]
    Unreachable {
        /// `master` or `runtime`.
        socket: &'static str,
        /// The reason, for the log.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// A command was refused, in HAProxy's words.
    #[error("HAProxy refused {command:?}: {message}")]
    Refused {
        /// The command.
        command: String,
        /// The response.
        message: String,
    },
    /// `haproxy -c` refused the file, in its words.
    #[error("haproxy -c: {0}")]
    Invalid(String),
    /// HAProxy went on with the previous files.
    #[error("HAProxy could not load its files and goes on with the previous ones: see its log")]
    NotLoaded,
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl HaproxyError {
    fn file(path: &Path, problem: impl ToString) -> Self {
        let (path, problem) = (path.display().to_string(), problem.to_string());
        Self::File { path, problem }
    }
}

/// How soon the controller should try again while HAProxy is restarted.
const SOON: Duration = Duration::from_secs(2);

/// Every operation may fail while HAProxy is away; in a validation nobody calls it.
pub(crate) fn failed(error: HaproxyError) -> HookError {
    let away = matches!(error, HaproxyError::Unreachable { .. });
    let hook_error = HookError::from(error);
    if away {
        return hook_error.retry_after(SOON);
    }
    hook_error
}
