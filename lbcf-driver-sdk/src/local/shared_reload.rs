//! One reload for all calls that wait for one.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Reloads of a process, one at a time, each shared by all calls that wait for one.
///
/// A reload starts a process and reads every file. With this, a hundred load balancers that are created
/// at once cost two reloads instead of a hundred: the one in progress, and one for all others.
///
/// ```
/// # async fn example() {
/// use lbcf_driver_sdk::HookError;
/// use lbcf_driver_sdk::local::SharedReload;
///
/// async fn reload() -> Result<(), HookError> {
///     Ok(()) // such as: systemctl reload nginx
/// }
///
/// // One for the whole driver.
/// let reloads = SharedReload::default();
/// // In each call, after its file is written:
/// reloads.join(reload()).await.unwrap();
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example());
/// ```
#[derive(Debug)]
pub struct SharedReload<T> {
    asked: AtomicU64,
    last: Mutex<Option<Reload<T>>>,
}

#[derive(Debug)]
struct Reload<T> {
    /// All who had asked when it began: their files were written before.
    up_to: u64,
    result: T,
}

impl<T> Default for SharedReload<T> {
    fn default() -> Self {
        let (asked, last) = (AtomicU64::new(0), Mutex::new(None));
        Self { asked, last }
    }
}

impl<T: Clone> SharedReload<T> {
    /// Returns the result of a reload that began after this call: of `reload`, unless another caller
    /// that waited for the same one has performed it. A caller that gives up hands it to the next one.
    pub async fn join(&self, reload: impl Future<Output = T>) -> T {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = self.last.lock().await;
        if let Some(done) = &*last
            && done.up_to >= ticket
        {
            return done.result.clone();
        }
        let up_to = self.asked.load(Ordering::SeqCst);
        let result = reload.await;
        let answer = result.clone();
        *last = Some(Reload { up_to, result });
        answer
    }
}
