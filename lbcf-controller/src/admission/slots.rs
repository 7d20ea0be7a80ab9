//! The slots of reviews that are processed at a time, shared by namespace: one whose reviews take long, for example because its
//! own driver is slow, leaves slots to the others.

use crate::process::lock::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Clones share the slots.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    free: usize,
    /// By namespace, where there are some.
    taken: HashMap<String, usize>,
    waiting: HashMap<String, VecDeque<oneshot::Sender<Slot>>>,
}

/// A slot, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Slots,
    namespace: String,
}

/// True if a namespace may take one more slot: it leaves others at least as many as it has, so that those of several do not
/// use up all either.
const fn may_take(taken: usize, free: usize) -> bool {
    taken < free
}

/// Of the namespaces that wait, with the number of slots that each has, the one that gets the next slot.
fn next<'a>(waiting: impl Iterator<Item = (&'a str, usize)>, free: usize) -> Option<&'a str> {
    let least = waiting.min_by_key(|(_, taken)| *taken);
    let least = least.filter(|(_, taken)| may_take(*taken, free));
    least.map(|(namespace, _)| namespace)
}

impl Slots {
    pub(super) fn new(number: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: number,
            taken: HashMap::new(),
            waiting: HashMap::new(),
        })))
    }

    /// Waits for a slot, behind others of the namespace; none only if the slots are dropped.
    pub(super) async fn acquire(&self, namespace: &str) -> Option<Slot> {
        let (sender, slot) = oneshot::channel();
        self.0.lock().wait(namespace, sender);
        self.hand_out();
        slot.await.ok()
    }

    fn hand_out(&self) {
        // Outside of the lock, which a slot takes when its receiver is gone.
        while let Some((namespace, receiver)) = self.grant() {
            let slots = self.clone();
            let _ = receiver.send(Slot { slots, namespace });
        }
    }

    fn grant(&self) -> Option<(String, oneshot::Sender<Slot>)> {
        let mut state = self.0.lock();
        state.forget_closed();
        let State {
            free,
            taken,
            waiting,
        } = &mut *state;
        let of = |namespace: &String| taken.get(namespace).copied().unwrap_or_default();
        let counted = waiting.keys().map(|it| (it.as_str(), of(it)));
        let namespace = next(counted, *free)?.to_owned();
        let receiver = waiting.get_mut(&namespace)?.pop_front()?;
        *free -= 1;
        *taken.entry(namespace.clone()).or_default() += 1;
        Some((namespace, receiver))
    }
}

impl State {
    fn wait(&mut self, namespace: &str, receiver: oneshot::Sender<Slot>) {
        let waiting = self.waiting.entry(namespace.to_owned()).or_default();
        waiting.push_back(receiver);
    }

    /// Removes reviews at the front that have ended while they waited, and namespaces without waiting reviews.
    fn forget_closed(&mut self) {
        self.waiting.retain(|_, waiting| {
            while waiting.front().is_some_and(oneshot::Sender::is_closed) {
                waiting.pop_front();
            }
            !waiting.is_empty()
        });
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.0.lock();
        state.free += 1;
        if let Some(taken) = state.taken.get_mut(&self.namespace) {
            *taken -= 1;
            if *taken == 0 {
                state.taken.remove(&self.namespace);
            }
        }
        drop(state);
        self.slots.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;
    use tokio::time::timeout;

    #[test]
    fn d108_who_takes_the_next_slot() {
        for (waiting, free, expected) in [
            (&[][..], 9, None),
            (&[("a", 0)], 0, None),
            (&[("a", 0)], 1, Some("a")),
            (&[("a", 4)], 4, None),
            (&[("a", 4)], 5, Some("a")),
            (&[("a", 4), ("b", 1), ("c", 2)], 5, Some("b")),
            (&[("a", 4), ("b", 3)], 3, None),
        ] {
            assert_eq!(next(waiting.iter().copied(), free), expected, "{waiting:?}");
        }
    }

    #[test]
    fn d108_one_namespace_has_half_of_the_slots_and_several_leave_some() {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let mut free = 512;
        for name in ["a", "b", "c", "d", "e", "f"] {
            let own = taken.entry(name).or_default();
            while may_take(*own, free) {
                *own += 1;
                free -= 1;
            }
        }
        let taken: Vec<usize> = taken.into_values().collect();
        assert_eq!((taken, free), (vec![256, 128, 64, 32, 16, 8], 8));
    }

    #[tokio::test(start_paused = true)]
    async fn d108_slots_are_handed_on_and_nothing_is_kept() {
        let slots = Slots::new(4);
        let first = slots.acquire("a").await.unwrap();
        let second = slots.acquire("a").await.unwrap();
        let take = |namespace: &'static str| {
            let slots = slots.clone();
            tokio::spawn(async move { slots.acquire(namespace).await.unwrap() })
        };
        let (gone, third) = (take("a"), take("a"));
        tokio::task::yield_now().await;
        let other = timeout(Duration::from_secs(60), slots.acquire("b")).await;
        gone.abort();
        assert!(gone.await.is_err());
        assert!(!third.is_finished());
        drop(first);
        let third = third.await.unwrap();
        assert!(other.is_ok_and(|slot| slot.is_some()));
        drop((second, third));
        let state = slots.0.lock();
        assert_eq!(state.free, 4);
        assert!(state.taken.is_empty() && state.waiting.is_empty());
    }
}
