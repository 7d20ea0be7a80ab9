//! Taking turns: who shares a key goes one after the other, in the order in which they came.
//!
//! A place in line is taken at once and not when somebody first waits, so the order is that of
//! arrival however the tasks are scheduled. Whoever holds the place drops it to let the next one
//! go. A line that nobody stands in takes no memory, and who stands alone in one waits for nobody
//! and has nothing made for it.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The lines, by key.
#[derive(Debug)]
pub(super) struct Turns<K, S = RandomState>(Arc<Lines<K, S>>);

/// For each key whose turn somebody has: those who wait, in order. Some may have left.
#[derive(Debug)]
struct Lines<K, S>(Mutex<HashMap<K, Line, S>>);

type Line = VecDeque<oneshot::Sender<()>>;

impl<K, S: Default> Default for Turns<K, S> {
    fn default() -> Self {
        Self(Arc::new(Lines(Mutex::default())))
    }
}

impl<K: Eq + Hash + Clone, S: BuildHasher> Turns<K, S> {
    /// The last place in the line of `key`.
    pub(super) fn take_place(&self, key: K) -> Turn<K, S> {
        let mut lines = self.0.lock();
        let before = match lines.get_mut(&key) {
            Some(line) => {
                let (let_go, before) = oneshot::channel();
                line.push_back(let_go);
                Some(before)
            }
            None => {
                lines.insert(key.clone(), VecDeque::new());
                None
            }
        };
        drop(lines);
        Turn {
            lines: Arc::clone(&self.0),
            key,
            before,
        }
    }
}

impl<K, S> Lines<K, S> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Line, S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in a line; dropping it lets the next one go.
#[derive(Debug)]
pub(super) struct Turn<K: Eq + Hash, S: BuildHasher = RandomState> {
    lines: Arc<Lines<K, S>>,
    key: K,
    /// Those who came earlier, if their turns are not over yet.
    before: Option<oneshot::Receiver<()>>,
}

impl<K: Eq + Hash, S: BuildHasher> Turn<K, S> {
    /// Whether somebody who came earlier may not be done.
    pub(super) const fn waits(&self) -> bool {
        self.before.is_some()
    }

    /// Waits until all who came earlier are done.
    pub(super) async fn come(&mut self) {
        if let Some(before) = &mut self.before {
            // The sender goes only by sending.
            let _ = before.await;
            self.before = None;
        }
    }
}

impl<K: Eq + Hash, S: BuildHasher> Drop for Turn<K, S> {
    fn drop(&mut self) {
        if let Some(mut before) = self.before.take() {
            before.close();
            if before.try_recv().is_err() {
                // Leaves without having had a turn: whoever looks for the next one finds nobody
                // here.
                return;
            }
        }
        let mut lines = self.lines.lock();
        let Some(line) = lines.get_mut(&self.key) else {
            return;
        };
        while let Some(next) = line.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        lines.remove(&self.key);
    }
}

#[cfg(test)]
mod tests;
