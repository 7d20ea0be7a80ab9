//! Why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server cannot start, or cannot go on. The text names setting, value and what is wrong with
/// it; it quotes neither keys nor tokens.
///
/// ```
/// # async fn example(driver: impl lbcf_driver_sdk::RawDriver) {
/// use lbcf_driver_sdk::server::{Server, ServerError};
///
/// match Server::new(driver).path_prefix("lbcf").bind().await {
///     Err(error @ ServerError::Prefix { .. }) => {
///         assert_eq!(error.to_string(), "path prefix \"lbcf\": it must begin with /, such as /lbcf");
///     }
///     other => panic!("{other:?}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address cannot be had.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Webhooks cannot be below this path.
    #[error("path prefix {prefix:?}: {problem}")]
    Prefix {
        /// The path.
        prefix: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file does not have in it what it should.
    #[error("{}: {problem}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The token that is given cannot be one.
    #[error("token: {problem}")]
    Token {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two settings do not go together.
    #[error("{0}")]
    Settings(&'static str),
    /// The TLS library refuses.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[source] rustls::Error),
    /// The system does not tell of signals.
    #[error("cannot wait for SIGINT and SIGTERM: {0}")]
    Signals(#[source] io::Error),
    /// The URL cannot be written to standard output.
    #[error("cannot write the URL to standard output: {0}")]
    Output(#[source] io::Error),
    /// What shall be logged is not understood.
    #[cfg(feature = "cli")]
    #[error(
        "log filter {filter:?}: {source}; give a level such as info, or a list such as warn,my_driver=debug"
    )]
    Log {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
}
