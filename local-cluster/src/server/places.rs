//! Places for connections: a limited number, so that nobody who holds many keeps others out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a connection that has to leave keeps a newcomer waiting before the next one has to, too.
const PATIENCE: Duration = Duration::from_millis(100);

/// The places of a server.
#[derive(Debug)]
pub(super) struct Places {
    limit: usize,
    stop: CancellationToken,
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// By age: the oldest comes first.
    guests: BTreeMap<u64, Arc<Guest>>,
}

#[derive(Debug)]
struct Guest {
    /// How many requests are being answered.
    working: AtomicUsize,
    leave: CancellationToken,
}

/// A connection's place; dropping it frees it.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    guest: Arc<Guest>,
    places: Arc<Places>,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Work(Arc<Guest>);

impl Places {
    /// So many places; all have to leave when `stop` is cancelled.
    pub(super) fn new(limit: usize, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            limit: limit.max(1),
            stop,
            taken: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Waits for a place, and has others leave until there is one.
    pub(super) async fn take(self: &Arc<Self>) -> Place {
        loop {
            let freed = self.freed.notified();
            if let Some(place) = self.try_take() {
                return place;
            }
            self.make_room();
            // Who has to leave may still have something to finish; then it is the next one's turn.
            let _ = tokio::time::timeout(PATIENCE, freed).await;
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.guests.len() >= self.limit {
            return None;
        }
        let number = taken.next;
        taken.next += 1;
        let guest = Arc::new(Guest {
            working: AtomicUsize::new(0),
            leave: self.stop.child_token(),
        });
        taken.guests.insert(number, Arc::clone(&guest));
        Some(Place {
            number,
            guest,
            places: Arc::clone(self),
        })
    }

    /// Has one connection leave: the oldest that is idle or, if all are at work, the oldest.
    pub(super) fn make_room(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let staying = || taken.guests.values().filter(|g| !g.leave.is_cancelled());
        let idle = staying().find(|guest| guest.working.load(Ordering::SeqCst) == 0);
        if let Some(guest) = idle.or_else(|| staying().next()) {
            guest.leave.cancel();
        }
    }
}

impl Place {
    /// Cancelled when the connection has to leave.
    pub(super) fn leave(&self) -> &CancellationToken {
        &self.guest.leave
    }

    /// Whether nothing is being answered.
    pub(super) fn is_idle(&self) -> bool {
        self.guest.working.load(Ordering::SeqCst) == 0
    }

    /// Notes a request, until what is returned is dropped.
    pub(super) fn work(&self) -> Work {
        self.guest.working.fetch_add(1, Ordering::SeqCst);
        Work(Arc::clone(&self.guest))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self
            .places
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        taken.guests.remove(&self.number);
        drop(taken);
        self.places.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_oldest_that_is_idle_leaves_first_and_then_the_oldest() {
        let places = Places::new(3, CancellationToken::new());
        let watching = places.take().await;
        let work = watching.work();
        let idle = places.take().await;
        let younger = places.take().await;
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take().await }
        });
        idle.leave().cancelled().await;
        assert!(!watching.leave().is_cancelled() && !younger.leave().is_cancelled());
        drop(idle);
        let newcomer = waiting.await.unwrap();
        let works = [younger.work(), newcomer.work()];
        places.make_room();
        assert!(watching.leave().is_cancelled() && !younger.leave().is_cancelled());
        drop((work, works));
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_leave_does_not_keep_others_out() {
        let places = Places::new(2, CancellationToken::new());
        let stubborn = places.take().await;
        let next = places.take().await;
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take().await }
        });
        stubborn.leave().cancelled().await;
        next.leave().cancelled().await;
        drop(next);
        let newcomer = waiting.await.unwrap();
        places.stop.cancel();
        assert!(newcomer.leave().is_cancelled());
    }
}
