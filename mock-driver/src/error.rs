//! Why the mock's server cannot do its work.

use std::io;
use std::net::SocketAddr;

/// Why the mock's server cannot do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Nobody would notice when it is asked to end.
    #[error("cannot wait for signals: {0}")]
    Signals(#[source] io::Error),
    /// Its URL cannot be told.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
}
