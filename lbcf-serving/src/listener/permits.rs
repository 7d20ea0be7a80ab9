//! Permits for connections: a limited number.

use super::activity::Connection;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
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

    /// Waits for a permit, and has connections close until one is free.
    pub(super) async fn take(self: &Arc<Self>) -> Permit {
        loop {
            if let Some(permit) = self.try_take() {
                return permit;
            }
            // Connections that were just accepted read their requests first.
            tokio::task::yield_now().await;
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
        Some(Permit {
            number,
            connection,
            permits: Arc::clone(self),
        })
    }

    /// Closes one connection that waits for its client: of the address that has most of these, so that
    /// strangers keep no others out however fast they connect, the oldest, preferably without a request.
    /// If none waits, the oldest closes with its request.
    pub(super) fn close_oldest(&self) {
        let held = self.held();
        let connections = || held.connections.values();
        let waiting = connections().filter(|open| open.may_give_way() && !open.is_giving_way());
        let waiting: Vec<_> = waiting.collect();
        let mut of_address = HashMap::<Option<IpAddr>, usize>::new();
        for connection in &waiting {
            *of_address.entry(connection.address()).or_default() += 1;
        }
        let first = waiting.into_iter().min_by_key(|connection| {
            let of_address = of_address.get(&connection.address());
            (Reverse(of_address), !connection.is_idle())
        });
        match first {
            Some(connection) => connection.give_way(),
            None => {
                let oldest = connections().find(|open| !open.closing().is_cancelled());
                if let Some(oldest) = oldest {
                    oldest.closing().cancel();
                }
            }
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

    #[tokio::test(start_paused = true)]
    async fn d104_the_address_with_most_waiting_connections_gives_way_and_requests_when_overdue() {
        let permits = Permits::new(9, CancellationToken::new());
        let from = async |last: u8| {
            let permit = permits.take().await;
            permit.connection().set_peer(([10, 0, 0, last], 1).into());
            permit
        };
        let (other, first, second) = (from(1).await, from(2).await, from(2).await);
        let (third, busy) = (from(2).await, from(2).await);
        let requests = [first.connection().begin(), busy.connection().begin()];
        first.connection().set_waiting(true);
        let closing = |permit: &Permit| permit.connection().is_giving_way();
        permits.close_oldest();
        assert!(
            closing(&second) && !closing(&first),
            "its body may be on its way"
        );
        tokio::time::advance(Duration::from_secs(1)).await;
        permits.close_oldest();
        assert!(
            closing(&third) && !closing(&first),
            "one without a request is first"
        );
        permits.close_oldest();
        assert!(closing(&other) && !closing(&first));
        permits.close_oldest();
        assert!(closing(&first));
        permits.close_oldest();
        assert!(busy.connection().closing().is_cancelled() && !closing(&busy));
        drop(requests);
    }
}
