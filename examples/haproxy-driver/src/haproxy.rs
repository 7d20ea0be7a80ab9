//! Talks to HAProxy: to its master, to its workers, and through the files that it reads.

pub mod config;
pub mod master;
pub mod runtime;
mod socket;

use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Where everything of one HAProxy is: the program, and what is in the folder of `--dir`.
#[derive(Debug, Clone)]
pub struct Layout {
    pub program: PathBuf,
    /// The file with `global` and `defaults`, which is the operator's once it exists.
    pub base: PathBuf,
    /// One file for each load balancer.
    pub conf_d: PathBuf,
    /// The master's socket, `-S`.
    pub master_socket: PathBuf,
    /// The worker's socket, `stats socket`.
    pub runtime_socket: PathBuf,
    /// The master's process id, for operators and tests.
    pub pid_file: PathBuf,
}

impl Layout {
    pub fn new(dir: &Path, program: &Path) -> Self {
        // HAProxy may be started from another folder.
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        Self {
            program: program.to_owned(),
            base: dir.join("haproxy.cfg"),
            conf_d: dir.join("conf.d"),
            master_socket: dir.join("master.sock"),
            runtime_socket: dir.join("runtime.sock"),
            pid_file: dir.join("haproxy.pid"),
        }
    }

    /// HAProxy with these arguments, and `haproxy.cfg` and `files` as its configuration.
    pub(crate) fn command(&self, arguments: &[&str], files: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command.arg("-f").arg(&self.base).arg("-f").arg(files);
        command
    }
}
