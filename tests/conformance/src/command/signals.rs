//! Ctrl-C, and being told to end.

use super::Stop;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a run.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on: none is lost before somebody waits.
    pub(super) fn listen() -> Result<Self, Stop> {
        let listen =
            |kind| signal(kind).map_err(|problem| Stop::usage(format!("signals: {problem}")));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one and gives its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}
