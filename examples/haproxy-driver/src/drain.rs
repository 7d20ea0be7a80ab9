//! The end of a server: no new sessions, then those that are open end within the limit, then it is removed.

use crate::HaproxyDriver;
use crate::balancer::server_name;
use crate::haproxy::{HaproxyError, failed, runtime};
use crate::plan::{self, Admin};
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::drain::Drain;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// How long a call waits for the sessions of a server: most end soon, and then one call is enough.
const WAIT_IN_CALL: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(50);
/// When to ask again whether sessions that were shut down are gone.
const RETRY: Duration = Duration::from_secs(1);

impl HaproxyDriver {
    /// Sends a server no new sessions.
    pub(crate) async fn begin_drain(
        &self,
        name: &str,
        address: SocketAddr,
    ) -> Result<(), HaproxyError> {
        let layout = &self.0.layout;
        let running = runtime::running(layout, Some(name)).await?;
        let server = running.get(name).and_then(|it| it.servers.get(&address));
        if server.is_some_and(|server| server.admin == Admin::Ready) {
            let command = format!("set server {name}/{} state drain", server_name(address));
            runtime::execute(layout, &[command]).await?;
        }
        Ok(())
    }

    /// Removes a server that drains, as soon as it may go. Until then the answer is `Running`.
    pub(crate) async fn drain(
        &self,
        name: &str,
        address: SocketAddr,
        limit: Duration,
        since: Option<SystemTime>,
    ) -> Result<(), HookError> {
        let deadline = Instant::now() + WAIT_IN_CALL;
        loop {
            match self.drain_once(name, address, limit, since).await {
                Ok(None) => return Ok(()),
                Ok(Some(running)) if Instant::now() >= deadline => return Err(running),
                Ok(Some(_)) => sleep(POLL).await,
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// One look: the server is removed, or the reason why not yet is returned.
    async fn drain_once(
        &self,
        name: &str,
        address: SocketAddr,
        limit: Duration,
        since: Option<SystemTime>,
    ) -> Result<Option<HookError>, HaproxyError> {
        let layout = &self.0.layout;
        let _changes = self.0.changes.lock().await;
        let running = runtime::running(layout, Some(name)).await?;
        let server = running.get(name).and_then(|it| it.servers.get(&address));
        let (old_sessions, old_seconds) =
            runtime::sessions_of_old_workers(layout, name, address).await?;
        let sessions = old_sessions + server.map_or(0, |server| server.sessions);
        let draining = server.filter(|server| server.admin != Admin::Ready);
        let seconds = draining.map_or(0, |server| server.changed_seconds_ago);
        // A controller that does not say since when it asks: HAProxy knows since when it sends nothing there.
        let now = SystemTime::now();
        let in_haproxy = now.checked_sub(Duration::from_secs(seconds.max(old_seconds)));
        let (message, delay) = match Drain::decide(since.or(in_haproxy), now, limit, sessions) {
            Drain::Done if server.is_none() => return Ok(None),
            Drain::Done => match runtime::execute(layout, &plan::remove(name, address)).await {
                Ok(()) => return Ok(None),
                // One has begun since they were counted.
                Err(HaproxyError::Refused { message, .. }) => (message, RETRY),
                Err(error) => return Err(error),
            },
            Drain::Wait(delay) => (format!("{sessions} sessions are open"), delay),
            Drain::Expired => {
                runtime::shut_down_sessions(layout, name, address).await?;
                let limit = limit.as_secs();
                let message = format!("{sessions} sessions were shut down after {limit} s");
                (message, RETRY)
            }
        };
        Ok(Some(HookError::running(message).retry_after(delay)))
    }
}
