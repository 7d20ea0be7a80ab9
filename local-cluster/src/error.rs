//! What can go wrong outside of requests.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a local cluster cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Another cluster has the data directory.
    #[error(
        "the data directory {} is in use by another local cluster: stop that one, or choose another directory",
        directory.display()
    )]
    DataDirInUse {
        /// The directory that was asked for.
        directory: PathBuf,
    },
    /// The data directory cannot be used.
    #[error("cannot use the data directory {}: {why}", directory.display())]
    DataDir {
        /// The directory that was asked for.
        directory: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What a cluster starts with was refused: a node's name, most likely.
    #[error("cannot set up the cluster: {0}")]
    Setup(String),
    /// A token that cannot be used; it is not shown.
    #[error("the token cannot be used: {0}")]
    Token(String),
    /// A file cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// There is no certificate to serve with.
    #[error("cannot serve over TLS: {0}")]
    Tls(String),
}
