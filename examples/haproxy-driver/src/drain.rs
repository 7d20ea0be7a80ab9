//! The end of a server: no new sessions, then those that are open end within the limit, then it is removed.

use crate::HaproxyDriver;
use crate::haproxy::runtime;
use crate::plan::{self, Admin};
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::drain::Drain;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

/// When to ask again whether sessions that were shut down are gone.
const RETRY: Duration = Duration::from_secs(1);

impl HaproxyDriver {
    /// Removes a draining server that has no sessions; `Running` while it has some within the limit. One that
    /// is ready again is left alone.
    pub(crate) async fn drain(
        &self,
        name: &str,
        address: SocketAddr,
        limit: Duration,
        since: Option<SystemTime>,
    ) -> Result<(), HookError> {
        let _changes = self.changes.lock().await;
        let running = runtime::balancer(&self.layout, name).await?;
        let server = running.and_then(|it| it.servers.get(&address).copied());
        if server.is_some_and(|server| server.admin == Admin::Ready) {
            let cancelled = "an ensureBackend has cancelled the deregistration";
            return Err(HookError::running(cancelled));
        }
        let old_sessions = runtime::sessions_of_old_workers(&self.layout, name, address).await?;
        let sessions = old_sessions + server.map_or(0, |server| server.sessions);
        // A controller that does not say since when it asks: HAProxy knows since when it sends nothing there.
        let now = SystemTime::now();
        let in_haproxy = server
            .and_then(|server| now.checked_sub(Duration::from_secs(server.changed_seconds_ago)));
        match Drain::decide(since.or(in_haproxy), now, limit, sessions) {
            Drain::Done if server.is_none() => Ok(()),
            Drain::Done => {
                let removed = runtime::execute(&self.layout, &plan::remove(name, address)).await;
                // A session may have begun since they were counted.
                removed.map_err(|error| HookError::running(error.message()).retry_after(RETRY))
            }
            Drain::Wait(delay) => {
                Err(HookError::running(format!("{sessions} sessions are open")).retry_after(delay))
            }
            Drain::Expired => {
                runtime::shut_down_sessions(&self.layout, name, address).await?;
                let limit = limit.as_secs();
                let message = format!("{sessions} sessions were shut down after {limit} s");
                Err(HookError::running(message).retry_after(RETRY))
            }
        }
    }
}
