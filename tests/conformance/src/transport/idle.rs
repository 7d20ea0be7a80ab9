//! Connections that are kept for the next request.

use super::connection::Connection;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a connection is kept. Drivers close them after some time, and the request that meets
/// such a closing is lost.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// The most connections that are kept.
const MOST: usize = 64;

/// Connections that are kept for the next request, the last used on top.
#[derive(Default)]
pub(super) struct Idle {
    kept: Mutex<Vec<(Instant, Connection)>>,
}

impl Idle {
    /// A connection that can be used now, if there is one.
    pub(super) async fn take(&self) -> Option<Connection> {
        loop {
            let (since, mut connection) = self.lock().pop()?;
            if since.elapsed() < KEPT_FOR && connection.is_ready().await {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for a while.
    pub(super) fn keep(self: &Arc<Self>, connection: Connection) {
        let mut kept = self.lock();
        if kept.len() >= MOST {
            return;
        }
        kept.push((Instant::now(), connection));
        drop(kept);
        // A driver that is to stop may wait for connections that nobody uses.
        let idle = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(KEPT_FOR).await;
            if let Some(idle) = idle.upgrade() {
                idle.lock().retain(|(since, _)| since.elapsed() < KEPT_FOR);
            }
        });
    }

    /// How many are kept.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Instant, Connection)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
