//! A driver is ready when it responds to a call, not when something accepts connections on its port.

use crate::exchange::NoResponse;
use crate::transport::{Request, Transport};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The timeout of a probe.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two probes.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Waits until the driver responds, whatever the response is.
///
/// # Errors
/// The last problem, when the driver does not respond by then or its process has ended.
pub(crate) async fn wait(
    transport: &Transport,
    has_ended: impl Fn() -> bool,
    until: Instant,
) -> Result<(), NoResponse> {
    // A probe that is cut short by the end of the time says less than the one before.
    let mut before = None;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match probe(transport, TIMEOUT.min(left.max(PAUSE))).await {
            Ok(()) if has_ended() => {
                let other = "the driver has exited, and another process responds on its port";
                return Err(NoResponse::NotConnected(other.to_owned()));
            }
            Ok(()) => return Ok(()),
            Err(problem) if Instant::now() + PAUSE >= until || has_ended() => {
                let is_cut = left < TIMEOUT && matches!(problem, NoResponse::TimedOut(_));
                return Err(before.filter(|_| is_cut).unwrap_or(problem));
            }
            Err(problem) => {
                before = Some(problem).filter(|it| !matches!(it, NoResponse::NotConnected(_)));
                sleep(PAUSE).await;
            }
        }
    }
}

/// Calls `healthz`. After a failure no connection that was open is used again: the driver may be
/// restarting.
pub(crate) async fn probe(transport: &Transport, timeout: Duration) -> Result<(), NoResponse> {
    let request = Request::post("healthz", "{}");
    let received = transport.send(&request, timeout).await;
    if received.is_err() {
        transport.begin_generation();
    }
    received.map(drop)
}
