//! The events that wait to be written.

use super::EventRecord;
use crate::process::lock::Mutex;
use lbcf_serving::token_bucket::TokenBucket;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Events about success that are written a second, after a burst.
const SUCCESSES_PER_SECOND: u32 = 20;
const SUCCESS_BURST: u32 = 200;

/// Decides which events are dropped when there are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Importance {
    /// May be dropped: the object's status has the result, too.
    Success,
    /// Waits until it is written, as nothing else may tell what it tells.
    Kept,
}

/// The uid of the object, its part, and the reason.
type EventKey = (String, String, String);

#[derive(Debug)]
struct Waiting {
    order: VecDeque<EventKey>,
    events: HashMap<EventKey, EventRecord>,
    successes: TokenBucket,
}

impl Waiting {
    fn new(now: Instant) -> Self {
        Self {
            order: VecDeque::new(),
            events: HashMap::new(),
            successes: TokenBucket::new(SUCCESSES_PER_SECOND, SUCCESS_BURST, now),
        }
    }

    /// Adds an event; one that waits and has the same key becomes part of it, so that what waits grows
    /// with the objects and not with their failures. Returns false if it is dropped.
    fn add(&mut self, mut event: EventRecord, importance: Importance, now: Instant) -> bool {
        if importance == Importance::Success && self.successes.take(now).is_err() {
            return false;
        }
        if let Some(earlier) = self.waiting_like(&event) {
            event.occurrences = event.occurrences.saturating_add(earlier.occurrences);
            *earlier = event;
        } else {
            self.push(event);
        }
        true
    }

    fn waiting_like(&mut self, event: &EventRecord) -> Option<&mut EventRecord> {
        self.events.get_mut(&key_of(event))
    }

    fn push(&mut self, event: EventRecord) {
        let key = key_of(&event);
        self.order.push_back(key.clone());
        self.events.insert(key, event);
    }

    fn take(&mut self) -> Option<EventRecord> {
        let key = self.order.pop_front()?;
        self.events.remove(&key)
    }

    /// Adds an event that could not be written, behind all others: it may be the only one that cannot.
    /// It becomes part of a later one.
    fn put_back(&mut self, event: EventRecord) {
        match self.waiting_like(&event) {
            Some(later) => {
                later.occurrences = later.occurrences.saturating_add(event.occurrences);
            }
            None => self.push(event),
        }
    }
}

fn key_of(event: &EventRecord) -> EventKey {
    let uid = event.regarding.uid.clone().unwrap_or_default();
    (uid, event.part.clone(), event.reason.clone())
}

/// The queue's end for recorders.
#[derive(Debug)]
pub(super) struct EventQueue {
    waiting: Arc<Mutex<Waiting>>,
    wake: mpsc::Sender<()>,
}

/// The queue's end for the writer.
#[derive(Debug)]
pub(super) struct WaitingEvents {
    waiting: Arc<Mutex<Waiting>>,
    woken: mpsc::Receiver<()>,
}

impl EventQueue {
    pub(super) fn new() -> (Self, WaitingEvents) {
        let waiting = Arc::new(Mutex::new(Waiting::new(Instant::now())));
        let (wake, woken) = mpsc::channel(1);
        let queue = Self {
            waiting: Arc::clone(&waiting),
            wake,
        };
        (queue, WaitingEvents { waiting, woken })
    }

    /// Returns false if the event is dropped.
    pub(super) fn add(&self, event: EventRecord, importance: Importance) -> bool {
        let is_added = self.waiting.lock().add(event, importance, Instant::now());
        // The writer is awake already if the channel is full.
        let _ = self.wake.try_send(());
        is_added
    }
}

impl WaitingEvents {
    /// The next event, as soon as there is one; none when all recorders are dropped.
    pub(super) async fn next(&mut self) -> Option<EventRecord> {
        loop {
            if let Some(event) = self.waiting.lock().take() {
                return Some(event);
            }
            self.woken.recv().await?;
        }
    }

    /// Keeps an event that could not be written, unless all recorders are dropped.
    pub(super) fn put_back(&self, event: EventRecord) {
        if !self.woken.is_closed() {
            self.waiting.lock().put_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::EventType::{Normal, Warning};
    use super::*;
    use jiff::Timestamp;
    use k8s_openapi::api::core::v1::ObjectReference;
    use std::time::Duration;

    fn event(uid: u32, reason: &str, message: &str) -> EventRecord {
        let is_failure = reason.starts_with("Fail");
        EventRecord {
            regarding: ObjectReference {
                uid: Some(uid.to_string()),
                ..ObjectReference::default()
            },
            part: String::new(),
            event_type: if is_failure { Warning } else { Normal },
            reason: reason.to_owned(),
            message: message.to_owned(),
            at: Timestamp::UNIX_EPOCH,
            occurrences: 1,
            retention: Duration::ZERO,
            recorded: Instant::now(),
            name: None,
        }
    }

    #[test]
    fn d55_failures_wait_without_a_limit_and_successes_are_limited() {
        let now = Instant::now();
        let mut waiting = Waiting::new(now);
        let add = |waiting: &mut Waiting, now| {
            let added = (0..5000).map(|uid| {
                let failure = event(uid, "FailEnsureBackend", "no");
                assert!(waiting.add(failure, Importance::Kept, now));
                waiting.add(
                    event(uid, "SuccEnsureBackend", "yes"),
                    Importance::Success,
                    now,
                )
            });
            added.filter(|is_added| *is_added).count()
        };
        assert_eq!(add(&mut waiting, now), 200);
        assert_eq!(waiting.order.len(), 5200);
        let later = now + Duration::from_secs(2);
        assert_eq!(add(&mut waiting, later), 40);
        assert_eq!(waiting.order.len(), 5200, "those that wait became one");
    }

    #[test]
    fn d55_an_event_takes_the_place_of_one_that_waits() {
        let now = Instant::now();
        let mut waiting = Waiting::new(now);
        for (uid, message) in [(1, "first"), (2, "other"), (1, "second")] {
            let failure = event(uid, "FailEnsureBackend", message);
            assert!(waiting.add(failure, Importance::Kept, now));
        }
        let taken: Vec<_> = std::iter::from_fn(|| waiting.take())
            .map(|event| (event.message, event.occurrences))
            .collect();
        assert_eq!(taken, [("second".to_owned(), 2), ("other".to_owned(), 1)]);
        assert!(waiting.events.is_empty(), "nothing is left behind");
    }

    #[test]
    fn d59_what_could_not_be_written_is_behind_the_others_or_becomes_part_of_a_later_one() {
        let now = Instant::now();
        let mut waiting = Waiting::new(now);
        let failure = |uid, message| event(uid, "FailEnsureBackend", message);
        waiting.add(failure(1, "later"), Importance::Kept, now);
        waiting.put_back(failure(2, "first"));
        waiting.put_back(failure(1, "earlier"));
        let taken: Vec<_> = std::iter::from_fn(|| waiting.take())
            .map(|event| (event.message, event.occurrences))
            .collect();
        assert_eq!(taken, [("later".to_owned(), 2), ("first".to_owned(), 1)]);
        assert!(waiting.events.is_empty(), "nothing is left behind");
    }

    #[tokio::test]
    async fn the_writer_gets_what_waits_and_ends_with_the_recorders() {
        let (queue, mut waiting) = EventQueue::new();
        for uid in 0..3 {
            assert!(queue.add(event(uid, "FailEnsureBackend", "no"), Importance::Kept));
        }
        drop(queue);
        let mut uids = Vec::new();
        while let Some(event) = waiting.next().await {
            uids.extend(event.regarding.uid.clone());
            waiting.put_back(event);
        }
        assert_eq!(uids, ["0", "1", "2"]);
    }
}
