//! Errors of the mock's server.

use std::io;
use std::net::SocketAddr;

/// Why the mock cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address to listen on.
        addr: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A fault rule is invalid, or the file with the rules cannot be read.
    #[error("fault rules: {0}")]
    Faults(String),
    /// The state of the cloud cannot be read from a file, or not be kept in one.
    #[error("state: {0}")]
    State(String),
    /// The profile `azure` has none of these flags.
    #[error("--profile azure does not have {0}")]
    Profile(&'static str),
    /// No signal handler could be installed, so the server could not be stopped.
    #[error("cannot wait for signals: {0}")]
    Signals(#[source] io::Error),
    /// The URL of the server could not be printed.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
}
