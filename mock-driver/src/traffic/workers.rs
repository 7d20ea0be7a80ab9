//! Threads for TCP connections, each with an event loop of its own: what arrives on a connection is
//! sent on by the thread that was woken for it, without waking another one.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The largest number of threads.
const THREADS: usize = 8;

/// The threads. Dropping this ends them, and with them their connections.
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
