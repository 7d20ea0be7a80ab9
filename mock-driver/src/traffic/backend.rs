//! A backend of the data plane: where it is, what it serves, and how its use ends.

use super::address::backend_candidates;
use super::counts::{Count, Counters};
use crate::backend_address::socket_addr;
use http_body_util::{Either, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use lbcf_serving::listener;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// The limit of waiting for a backend to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Backend {
    /// The address as it was bound.
    pub(super) address: String,
    /// Where that leads, or why nowhere.
    pub(super) target: Result<SocketAddr, String>,
    pub(super) counters: Counters,
    /// Idle connections to it, for requests.
    pub(super) pool: Pool,
    /// Cancelled when what is left is broken off.
    pub(super) ended: CancellationToken,
    /// The same, for where it is looked at often.
    has_ended: AtomicBool,
    /// When that will be, while it drains.
    deadline: Mutex<Option<Instant>>,
    /// Notified when nothing is open any more.
    drained: Notify,
}

/// The use of a backend by one connection, session or request.
#[derive(Debug)]
pub(super) struct Lease(Arc<Backend>);

impl Backend {
    pub(super) fn new(address: &str) -> Arc<Self> {
        Arc::new(Self {
            address: address.to_owned(),
            target: socket_addr(address),
            counters: Counters::default(),
            pool: Pool::default(),
            ended: CancellationToken::new(),
            has_ended: AtomicBool::new(false),
            deadline: Mutex::default(),
            drained: Notify::new(),
        })
    }

    /// Begins to use it.
    pub(super) fn lease(self: &Arc<Self>) -> Lease {
        self.counters.opened();
        Lease(Arc::clone(self))
    }

    /// Gives it nothing new, and what is open until `deadline`; its owner [expires](Self::expire) it then.
    pub(super) fn drain(&self, deadline: Instant) {
        *self.deadline() = Some(deadline);
        self.pool.close();
    }

    /// Ends it, unless it has returned since it began to drain until `deadline`.
    pub(super) fn expire(&self, deadline: Instant) {
        let current = self.deadline();
        if *current == Some(deadline) {
            self.end();
        }
    }

    /// Cancels the drain, if it has not ended: what is open stays open.
    pub(super) fn returns(&self) -> bool {
        let mut deadline = self.deadline();
        let returns = deadline.is_some() && !self.has_ended();
        if returns {
            *deadline = None;
            self.pool.open();
        }
        returns
    }

    fn deadline(&self) -> MutexGuard<'_, Option<Instant>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Breaks off what is open.
    pub(super) fn end(&self) {
        self.pool.close();
        // Before what waits is woken.
        self.has_ended.store(true, Ordering::Release);
        self.ended.cancel();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// The time that is left for what is open, while something is.
    pub(super) fn drains_for(&self) -> Option<Duration> {
        let is_open = self.counters.open() > 0 && !self.ended.is_cancelled();
        let deadline = self.deadline().filter(|_| is_open)?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until nothing is open.
    pub(super) async fn drained(&self) {
        let drained = self.drained.notified();
        let mut drained = std::pin::pin!(drained);
        // Before the look: what closes in between is not missed.
        drained.as_mut().enable();
        if self.drains_for().is_some() {
            drained.await;
        }
    }
}

impl Lease {
    /// Connects to the backend.
    pub(super) async fn connect(&self) -> io::Result<TcpStream> {
        let target = self.target.clone().map_err(io::Error::other)?;
        let mut result = Err(ErrorKind::AddrNotAvailable.into());
        for candidate in backend_candidates(target) {
            result = match timeout(CONNECT_TIMEOUT, TcpStream::connect(candidate)).await {
                Ok(connected) => connected,
                Err(_) => Err(ErrorKind::TimedOut.into()),
            };
            let is_refused = |error: &io::Error| error.kind() == ErrorKind::ConnectionRefused;
            if !result.as_ref().is_err_and(is_refused) {
                break;
            }
        }
        match result {
            Ok(stream) => {
                // What is forwarded was already put together by its sender.
                stream.set_nodelay(true)?;
                self.counters.count(Count::Connection);
                Ok(stream)
            }
            Err(error) => {
                self.counters.count(Count::Failure);
                Err(error)
            }
        }
    }
}

impl std::ops::Deref for Lease {
    type Target = Arc<Backend>;

    fn deref(&self) -> &Arc<Backend> {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.0.counters.closed() {
            self.0.drained.notify_waiters();
        }
    }
}

/// The number of idle connections that are kept for a backend.
const IDLE: usize = 256;

/// The body that a client is sending, if there is one.
pub(super) type RequestBody = Either<listener::RequestBody, Empty<Bytes>>;

pub(super) type Sender = SendRequest<RequestBody>;

/// Idle connections to a backend that the next requests use.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<PoolState>);

#[derive(Debug, Default)]
struct PoolState {
    /// The one that was used last is used next, so that unneeded ones are closed by the backend.
    idle: Vec<Sender>,
    is_closed: bool,
}

impl Pool {
    pub(super) fn take(&self) -> Option<Sender> {
        let mut state = self.lock();
        std::iter::from_fn(|| state.idle.pop()).find(|sender| !sender.is_closed())
    }

    /// Keeps a connection whose response has been read.
    pub(super) fn put(&self, sender: Sender) {
        let mut state = self.lock();
        if !state.is_closed && state.idle.len() < IDLE && !sender.is_closed() {
            state.idle.push(sender);
        }
    }

    /// Keeps idle connections again.
    fn open(&self) {
        self.lock().is_closed = false;
    }

    /// Closes the idle connections, and keeps none any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.idle.clear();
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
