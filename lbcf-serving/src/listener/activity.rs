use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The time that a request may wait for its client before its connection gives way to others.
const PATIENCE: Duration = Duration::from_secs(1);

/// A connection: whether it is to close, and whether it has a request. Clones are of the same
/// connection.
#[derive(Debug, Clone)]
pub struct Connection(Arc<State>);

#[derive(Debug)]
struct State {
    begun: AtomicUsize,
    ended: AtomicUsize,
    closing: CancellationToken,
    is_giving_way: AtomicBool,
    giving_way: Notify,
    waiting_since: Mutex<Option<Instant>>,
    resets: AtomicBool,
    peer: OnceLock<SocketAddr>,
}

impl Connection {
    pub(super) fn new(closing: CancellationToken) -> Self {
        Self(Arc::new(State {
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            closing,
            is_giving_way: AtomicBool::new(false),
            giving_way: Notify::new(),
            waiting_since: Mutex::default(),
            resets: AtomicBool::new(false),
            peer: OnceLock::new(),
        }))
    }

    /// The client's address.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.peer.get().copied()
    }

    pub(super) fn address(&self) -> Option<IpAddr> {
        self.peer().map(|peer| peer.ip())
    }

    pub(super) fn set_peer(&self, peer: SocketAddr) {
        _ = self.0.peer.set(peer);
    }

    /// Cancelled when the connection is to close. It then gets no further request, and a response
    /// without an end, such as a watch's, should end. Cancel it to close the connection.
    #[must_use]
    pub fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Makes the end of the connection a reset, which clients see as an error, and not an orderly
    /// close. It does not end the connection: an error of the service does.
    pub fn reset_at_end(&self) {
        self.0.resets.store(true, Ordering::Relaxed);
    }

    pub(super) fn resets(&self) -> bool {
        self.0.resets.load(Ordering::Relaxed)
    }

    /// True while no request is being answered.
    pub(super) fn is_idle(&self) -> bool {
        self.requests() == self.0.ended.load(Ordering::Relaxed)
    }

    /// Since when the rest of a request's body, or the client's reading of a response, is waited for.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        *self.lock_waiting()
    }

    pub(super) fn set_waiting(&self, is_waiting: bool) {
        let mut since = self.lock_waiting();
        *since = is_waiting.then(|| since.unwrap_or_else(Instant::now));
    }

    /// True if nothing is lost when the connection is closed: it has no request, or the client has not
    /// sent all of it, or not taken the response, for some time.
    pub(super) fn may_give_way(&self) -> bool {
        match self.waiting_since() {
            Some(since) => since.elapsed() >= PATIENCE,
            None => self.is_idle(),
        }
    }

    /// Closes the connection at once, unless a request comes first.
    pub(super) fn give_way(&self) {
        self.0.is_giving_way.store(true, Ordering::Relaxed);
        self.0.closing.cancel();
        self.0.giving_way.notify_one();
    }

    pub(super) fn is_giving_way(&self) -> bool {
        self.0.is_giving_way.load(Ordering::Relaxed)
    }

    /// Waits until the connection has to be closed for another one.
    pub(super) async fn gave_way(&self) {
        loop {
            self.0.giving_way.notified().await;
            if self.may_give_way() {
                return;
            }
            self.0.is_giving_way.store(false, Ordering::Relaxed);
        }
    }

    fn lock_waiting(&self) -> MutexGuard<'_, Option<Instant>> {
        let since = self.0.waiting_since.lock();
        since.unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of requests so far.
    pub(super) fn requests(&self) -> usize {
        self.0.begun.load(Ordering::Relaxed)
    }

    /// Counts a request whose head is complete.
    pub(super) fn begin(&self) -> ActiveRequest {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        ActiveRequest(self.clone())
    }
}

/// A request until its response is sent, or given up.
#[derive(Debug)]
pub(super) struct ActiveRequest(Connection);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}
