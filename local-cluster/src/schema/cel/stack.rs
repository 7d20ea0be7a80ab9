//! Room for recursion: parsing and evaluating take much of the stack for each level of a rule.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Enough for the largest rule that is parsed at all; it is only reserved, not used.
const SIZE: usize = 256 << 20;

/// Does something with much stack; `None` when it panics or there is no room.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("cel".to_owned())
            .stack_size(SIZE)
            .spawn_scoped(scope, work);
        worker.ok()?.join().ok()
    })
}

/// Does something here; `None` when it panics.
pub(super) fn here<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
