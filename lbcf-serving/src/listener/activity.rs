use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// A connection: whether it is to close, and whether it has a request. Clones are of the same
/// connection.
#[derive(Debug, Clone)]
pub struct Connection(Arc<State>);

#[derive(Debug)]
struct State {
    begun: AtomicUsize,
    ended: AtomicUsize,
    closing: CancellationToken,
    resets: AtomicBool,
    peer: OnceLock<SocketAddr>,
}

impl Connection {
    pub(super) fn new(closing: CancellationToken) -> Self {
        Self(Arc::new(State {
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            closing,
            resets: AtomicBool::new(false),
            peer: OnceLock::new(),
        }))
    }

    /// The client's address.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.peer.get().copied()
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
