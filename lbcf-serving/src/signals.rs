//! SIGINT and SIGTERM.

use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives SIGINT and SIGTERM from the moment it exists, so that none is lost between the start of
/// a process and the first wait. Where there is no Unix, it receives Ctrl-C.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl Signals {
    /// Replaces the default action of the signals, which ends the process.
    ///
    /// # Errors
    /// The operating system's, when the handlers cannot be installed.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal and returns its name: `SIGINT` or `SIGTERM`.
    #[cfg(unix)]
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }

    /// Waits for the next Ctrl-C and returns `SIGINT`.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "SIGINT"
    }
}

/// A future that is ready with the first SIGINT or SIGTERM that arrives after this call.
///
/// # Errors
/// The operating system's, when the handlers cannot be installed.
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::listen()?;
    Ok(async move {
        signals.next().await;
    })
}
