//! The context of a listener's connections: its counters and limits, and the threads that serve TCP.

use super::counts::{Count, Counters};
use super::options::TrafficOptions;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The state that the tasks of a listener share.
#[derive(Debug)]
pub(super) struct ListenerContext {
    pub(super) counters: Counters,
    /// One for each connection that it may have.
    pub(super) permits: Arc<Semaphore>,
    pub(super) options: TrafficOptions,
    /// Where connections of TCP are served.
    pub(super) workers: Arc<Workers>,
    /// Cancelled when the listener is closed.
    pub(super) closed: CancellationToken,
}

impl ListenerContext {
    /// That of a listener whose counts `total` has, too.
    pub(super) fn new(
        options: TrafficOptions,
        total: &Arc<Counters>,
        workers: &Arc<Workers>,
    ) -> Arc<Self> {
        Arc::new(Self {
            counters: Counters::part_of(total),
            permits: Arc::new(Semaphore::new(options.max_connections)),
            options,
            workers: Arc::clone(workers),
            closed: CancellationToken::new(),
        })
    }
}

/// A connection, as long as it is counted as open.
#[derive(Debug)]
pub(super) struct OpenConnection(Arc<ListenerContext>);

impl OpenConnection {
    pub(super) fn new(context: &Arc<ListenerContext>) -> Self {
        context.counters.opened();
        context.counters.count(Count::Connection);
        Self(Arc::clone(context))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        _ = self.0.counters.closed();
    }
}

/// The largest number of threads.
const THREADS: usize = 8;

/// Threads for TCP connections, each with an event loop of its own: what arrives on a connection is
/// sent on by the thread that was woken for it, without waking another one. Dropping this ends them, and
/// with them their connections.
#[derive(Debug)]
pub(super) struct Workers {
    handles: Vec<Handle>,
    next: AtomicUsize,
    _stop: DropGuard,
}

impl Workers {
    /// Starts as many threads as there are processors, at least one; without the means for one,
    /// connections are served by the current runtime.
    pub(super) fn start() -> Self {
        let stop = CancellationToken::new();
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let started = (0..threads.min(THREADS)).map(|number| start(number, stop.clone()));
        let mut handles: Vec<Handle> = started.filter_map(Result::ok).collect();
        if handles.is_empty() {
            handles.push(Handle::current());
        }
        Self {
            handles,
            next: AtomicUsize::new(0),
            _stop: stop.drop_guard(),
        }
    }

    /// Runs a connection on the next thread.
    pub(super) fn spawn(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        if let Some(handle) = self.handles.get(next % self.handles.len()) {
            drop(handle.spawn(connection));
        }
    }
}

fn start(number: usize, stop: CancellationToken) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let name = format!("traffic-{number}");
    let thread = thread::Builder::new().name(name);
    thread.spawn(move || runtime.block_on(stop.cancelled()))?;
    Ok(handle)
}
