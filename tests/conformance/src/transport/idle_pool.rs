//! Idle connections for the next request.

use super::connection::Connection;
use crate::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The time of a connection in the pool. Drivers close idle connections, and a request that is
/// sent at that moment is lost.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// The most connections in the pool.
const MOST: usize = 64;

/// Idle connections of the current generation, the last used on top.
#[derive(Default)]
pub(super) struct IdlePool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    generation: u64,
    idle: Vec<(Instant, Connection)>,
}

impl IdlePool {
    /// The generation of connections that are opened now.
    pub(super) fn generation(&self) -> u64 {
        lock(&self.kept).generation
    }

    /// Closes the idle connections; those in use are not kept any more.
    pub(super) fn begin_generation(&self) {
        let mut kept = lock(&self.kept);
        kept.generation += 1;
        kept.idle.clear();
    }

    /// An open connection, if there is one.
    pub(super) async fn take(&self) -> Option<Connection> {
        loop {
            let (since, mut connection) = lock(&self.kept).idle.pop()?;
            if since.elapsed() < KEPT_FOR && connection.is_ready().await {
                return Some(connection);
            }
        }
    }

    pub(super) fn keep(self: &Arc<Self>, connection: Connection) {
        let mut kept = lock(&self.kept);
        if connection.generation != kept.generation || kept.idle.len() >= MOST {
            return;
        }
        kept.idle.push((Instant::now(), connection));
        drop(kept);
        // A driver that shuts down may wait for idle connections to close.
        let idle = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(KEPT_FOR).await;
            if let Some(idle) = idle.upgrade() {
                let is_kept = |(since, _): &(Instant, _)| since.elapsed() < KEPT_FOR;
                lock(&idle.kept).idle.retain(is_kept);
            }
        });
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        lock(&self.kept).idle.len()
    }
}
