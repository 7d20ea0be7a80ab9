//! Errors of starting a server.

use lbcf_serving::watched_file::FileError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server cannot start or continue. The text names the setting, its value and the problem; it
/// quotes neither keys nor tokens.
///
/// ```
/// # async fn example(driver: impl lbcf_driver_sdk::Driver) {
/// use lbcf_driver_sdk::server::{Server, ServerError, Settings};
///
/// let settings = Settings { path_prefix: "lbcf".into(), ..Settings::default() };
/// match Server::with(driver, settings).bind().await {
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
    /// The address cannot be bound.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The configured address and port.
        addr: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Webhooks cannot be mounted at this path.
    #[error("path prefix {prefix:?}: {problem}")]
    Prefix {
        /// The configured prefix, such as `/lbcf`.
        prefix: String,
        /// The reason, for people.
        problem: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file has invalid contents.
    #[error("{}: {problem}", path.display())]
    Contents {
        /// Path of the file.
        path: PathBuf,
        /// The reason, for people.
        problem: String,
    },
    /// The configured token is invalid.
    #[error("token: {problem}")]
    Token {
        /// The reason, for people.
        problem: &'static str,
    },
    /// Two settings exclude each other.
    #[error("{0}")]
    Settings(&'static str),
    /// rustls rejects the configuration.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[source] rustls::Error),
    /// Signal handlers cannot be installed.
    #[error("cannot wait for signals: {0}")]
    Signals(#[source] io::Error),
    /// The URL cannot be written to standard output.
    #[error("cannot write the URL to standard output: {0}")]
    Output(#[source] io::Error),
    /// The log filter cannot be parsed.
    #[cfg(feature = "cli")]
    #[error(
        "log filter {filter:?}: {source}; give a level such as info, or a list such as warn,my_driver=debug"
    )]
    Log {
        /// The filter, in the syntax of `RUST_LOG`.
        filter: String,
        /// The reason, for people.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
}

impl From<FileError> for ServerError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Read { path, source } => Self::Read { path, source },
            FileError::Contents { path, problem } => Self::Contents { path, problem },
        }
    }
}

impl From<rustls::Error> for ServerError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}
