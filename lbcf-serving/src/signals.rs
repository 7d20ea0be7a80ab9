//! The signals that ask a process to end.

use std::io;
#[cfg(unix)]
use std::task::Poll;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives SIGINT, SIGTERM, SIGHUP and SIGQUIT from the moment it exists, so that none is lost between the start
/// of a process and the first wait. A SIGHUP that the process ignores, as `nohup` has it, stays ignored. Where
/// there is no Unix, it receives Ctrl-C.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    received: Vec<(&'static str, Signal)>,
}

impl Signals {
    /// Replaces the default action of the signals, which ends the process.
    ///
    /// # Errors
    /// The operating system's, when the handlers cannot be installed.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        let kinds = [
            ("SIGINT", SignalKind::interrupt()),
            ("SIGTERM", SignalKind::terminate()),
            ("SIGQUIT", SignalKind::quit()),
            ("SIGHUP", hangup),
        ];
        let kinds = kinds.into_iter();
        let kinds = kinds.filter(|(_, kind)| *kind != hangup || !is_ignored(hangup));
        let received = kinds.map(|(name, kind)| Ok((name, signal(kind)?)));
        Ok(Self {
            received: received.collect::<io::Result<_>>()?,
        })
    }

    /// Replaces the default action of Ctrl-C.
    ///
    /// # Errors
    /// Never: the handler is installed with the first wait.
    #[cfg(not(unix))]
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal and returns its name, such as `SIGINT`.
    #[cfg(unix)]
    pub async fn next(&mut self) -> &'static str {
        std::future::poll_fn(|context| {
            let mut received = self.received.iter_mut();
            let arrived = received
                .find_map(|(name, signal)| signal.poll_recv(context).is_ready().then_some(*name));
            arrived.map_or(Poll::Pending, Poll::Ready)
        })
        .await
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

/// True if the process was started with this signal ignored; only Linux tells.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}

/// A future that is ready with the first signal of [`Signals`] that arrives after this call.
///
/// # Errors
/// The operating system's, when the handlers cannot be installed.
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::listen()?;
    Ok(async move {
        signals.next().await;
    })
}
