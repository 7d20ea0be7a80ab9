//! What can go wrong outside of requests.

use std::net::SocketAddr;

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
    /// What a cluster starts with was refused: a node's name, most likely.
    #[error("cannot set up the cluster: {0}")]
    Setup(String),
}
