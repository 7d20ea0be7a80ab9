//! Errors outside of requests.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Errors of starting or serving a local cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address and port of [`ServeOptions`](crate::ServeOptions).
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Another process uses the data directory.
    #[error(
        "the data directory {} is in use by another local cluster: stop that one, or choose another directory",
        directory.display()
    )]
    DataDirInUse {
        /// The directory, which another process holds locked.
        directory: PathBuf,
    },
    /// The data directory cannot be used.
    #[error("cannot use the data directory {}: {why}", directory.display())]
    DataDir {
        /// The directory, as the options name it.
        directory: PathBuf,
        /// The reason, as a message for users.
        why: String,
    },
    /// An initial object is invalid, most likely because of a node's name.
    #[error("cannot set up the cluster: {0}")]
    Setup(String),
    /// The token is invalid; the message does not contain it.
    #[error("the token cannot be used: {0}")]
    Token(String),
    /// A file cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The certificate or key cannot be used.
    #[error("cannot serve over TLS: {0}")]
    Tls(String),
}
