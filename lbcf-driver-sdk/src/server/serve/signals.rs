//! Being told to end.

use crate::server::ServerError;

/// SIGINT and SIGTERM, from the moment on in which this was made, so that none is lost before
/// somebody waits.
#[cfg(unix)]
#[derive(Debug)]
pub(in crate::server) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(in crate::server) fn listen() -> Result<Self, ServerError> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(ServerError::Signals)?,
            terminate: signal(SignalKind::terminate()).map_err(ServerError::Signals)?,
        })
    }

    /// The next of them, by name.
    pub(in crate::server) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
#[derive(Debug)]
pub(in crate::server) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(in crate::server) fn listen() -> Result<Self, ServerError> {
        Ok(Self)
    }

    pub(in crate::server) async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}
