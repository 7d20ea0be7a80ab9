//! Permits for connections: a limited number.

use super::activity::Connection;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The time that a new connection waits for one that is to close before the next one is to close, too.
const CLOSE_WAIT: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Permits {
    limit: usize,
    closing: CancellationToken,
    held: Mutex<Held>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    /// By age, the oldest first.
    connections: BTreeMap<u64, Connection>,
    /// The log says that the limit is reached.
    is_full_logged: bool,
}

/// The permit of one connection; dropping it frees it.
#[derive(Debug)]
pub(super) struct Permit {
    number: u64,
    connection: Connection,
    permits: Arc<Permits>,
}

impl Permits {
    pub(super) fn new(limit: usize, closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            limit: limit.max(1),
            closing,
            held: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Waits until a permit is free.
    pub(super) async fn wait(self: &Arc<Self>, addr: SocketAddr) -> Permit {
        loop {
            if let Some(permit) = self.try_take() {
                return permit;
            }
            if !std::mem::replace(&mut self.held().is_full_logged, true) {
                tracing::warn!(%addr, "there are as many connections as allowed: others wait");
            }
            self.freed.notified().await;
        }
    }

    /// Waits for a permit, and has connections close until one is free.
    pub(super) async fn take(self: &Arc<Self>) -> Permit {
        loop {
            if let Some(permit) = self.try_take() {
                return permit;
            }
            self.close_oldest();
            // It may have a request to finish; then it is the next one's turn.
            let _ = tokio::time::timeout(CLOSE_WAIT, self.freed.notified()).await;
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<Permit> {
        let mut held = self.held();
        if held.connections.len() >= self.limit {
            return None;
        }
        let number = held.next;
        held.next += 1;
        let connection = Connection::new(self.closing.child_token());
        held.connections.insert(number, connection.clone());
        if held.connections.len() < self.limit {
            held.is_full_logged = false;
        }
        Some(Permit {
            number,
            connection,
            permits: Arc::clone(self),
        })
    }

    /// Closes one connection: the oldest that is idle or, if none is, the oldest.
    pub(super) fn close_oldest(&self) {
        let held = self.held();
        let open = || {
            let connections = held.connections.values();
            connections.filter(|connection| !connection.closing().is_cancelled())
        };
        let idle = open().find(|connection| connection.is_idle());
        if let Some(connection) = idle.or_else(|| open().next()) {
            connection.closing().cancel();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permits.held().connections.remove(&self.number);
        // For tasks that wait for the connection to close.
        self.connection.closing().cancel();
        self.permits.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_oldest_idle_connection_closes_first_and_then_the_oldest() {
        let permits = Permits::new(3, CancellationToken::new());
        let watching = permits.take().await;
        let request = watching.connection().begin();
        let idle = permits.take().await;
        let younger = permits.take().await;
        let waiting = tokio::spawn({
            let permits = Arc::clone(&permits);
            async move { permits.take().await }
        });
        idle.connection().closing().cancelled().await;
        let is_closing = |permit: &Permit| permit.connection().closing().is_cancelled();
        assert!(!is_closing(&watching) && !is_closing(&younger));
        drop(idle);
        let newcomer = waiting.await.unwrap();
        let requests = [younger.connection().begin(), newcomer.connection().begin()];
        permits.close_oldest();
        assert!(is_closing(&watching) && !is_closing(&younger));
        drop((request, requests));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_does_not_close_blocks_no_others() {
        let permits = Permits::new(2, CancellationToken::new());
        let stubborn = permits.take().await;
        let next = permits.take().await;
        let waiting = tokio::spawn({
            let permits = Arc::clone(&permits);
            async move { permits.take().await }
        });
        stubborn.connection().closing().cancelled().await;
        next.connection().closing().cancelled().await;
        drop(next);
        let newcomer = waiting.await.unwrap();
        permits.closing.cancel();
        assert!(newcomer.connection().closing().is_cancelled());
    }
}
