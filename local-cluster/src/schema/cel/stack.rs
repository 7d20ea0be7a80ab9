//! Stack for recursion: parsing and evaluation use much of it for each level of a rule.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Enough for the largest rule that is parsed; reserved, not committed.
const SIZE: usize = 256 << 20;

/// Runs `work` with a large stack; `None` if it panics or no thread can be started.
pub(super) fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("cel".to_owned())
            .stack_size(SIZE)
            .spawn_scoped(scope, work);
        worker.ok()?.join().ok()
    })
}

/// Runs `work` on this thread; `None` if it panics.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
