//! Taking turns: who shares a key goes one after the other, in the order in which they came.
//!
//! A place in line is taken at once and not when somebody first waits, so the order is that of
//! arrival however the tasks are scheduled. Whoever holds the place drops it to let the next one
//! go. A line that nobody stands in takes no memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The lines, by key.
#[derive(Debug)]
pub(super) struct Turns<K>(Arc<Mutex<HashMap<K, Before>>>);

/// Somebody earlier in the line: ends without a value when their turn is over. Whoever leaves the
/// line without having had a turn sends on who stood before them.
#[derive(Debug)]
struct Before {
    number: u64,
    over: oneshot::Receiver<Self>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash + Clone> Turns<K> {
    /// The last place in the line of `key`.
    pub(super) fn take_place(&self, key: K) -> Turn<K> {
        let (after, over) = oneshot::channel();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = last.get(&key).map_or(0, |before| before.number + 1);
        let before = last.insert(key.clone(), Before { number, over });
        Turn {
            lines: Arc::clone(&self.0),
            key,
            number,
            before,
            after: Some(after),
        }
    }
}

/// A place in a line; dropping it lets the next one go.
#[derive(Debug)]
pub(super) struct Turn<K: Eq + Hash + Clone> {
    lines: Arc<Mutex<HashMap<K, Before>>>,
    key: K,
    number: u64,
    before: Option<Before>,
    after: Option<oneshot::Sender<Before>>,
}

impl<K: Eq + Hash + Clone> Turn<K> {
    /// Waits until all who came earlier are done.
    pub(super) async fn come(&mut self) {
        while let Some(before) = &mut self.before {
            self.before = (&mut before.over).await.ok();
        }
    }
}

impl<K: Eq + Hash + Clone> Drop for Turn<K> {
    fn drop(&mut self) {
        let before = self.before.take();
        let mut last = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let am_last = last
            .get(&self.key)
            .is_some_and(|last| last.number == self.number);
        match (am_last, before) {
            (true, None) => {
                last.remove(&self.key);
            }
            (true, Some(before)) => {
                last.insert(self.key.clone(), before);
            }
            (false, None) => {}
            (false, Some(before)) => {
                if let Some(after) = self.after.take() {
                    // Nobody listens only if the next one has left too.
                    let _ = after.send(before);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
