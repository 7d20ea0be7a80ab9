//! One reload at a time, shared by all who wait for one: a reload starts a process and reads every file,
//! so a hundred load balancers that are created at once cost two reloads, and not a hundred.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Counts who has asked, and remembers who was served.
#[derive(Debug)]
pub(crate) struct SharedReload<E> {
    asked: AtomicU64,
    last: Mutex<Option<Done<E>>>,
}

#[derive(Debug)]
struct Done<E> {
    /// All who had asked when this reload began: their files were written before.
    up_to: u64,
    result: Result<(), E>,
}

impl<E> Default for SharedReload<E> {
    fn default() -> Self {
        let (asked, last) = (AtomicU64::new(0), Mutex::new(None));
        Self { asked, last }
    }
}

impl<E: Clone> SharedReload<E> {
    /// Returns the result of a reload that began after this call. It calls `reload`, unless another caller
    /// that waited for the same one has done so.
    pub(crate) async fn join<F>(&self, reload: impl FnOnce() -> F) -> Result<(), E>
    where
        F: Future<Output = Result<(), E>>,
    {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = self.last.lock().await;
        if let Some(done) = &*last
            && done.up_to >= ticket
        {
            return done.result.clone();
        }
        let up_to = self.asked.load(Ordering::SeqCst);
        let result = reload().await;
        *last = Some(Done {
            up_to,
            result: result.clone(),
        });
        result
    }
}

#[cfg(test)]
mod tests;
