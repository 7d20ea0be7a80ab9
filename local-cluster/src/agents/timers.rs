//! When to look at something again.

use std::collections::{BTreeSet, HashMap};

use tokio::time::Instant;

/// One time for each key, the earliest first.
#[derive(Debug, Default)]
pub(super) struct Timers {
    order: BTreeSet<(Instant, String)>,
    times: HashMap<String, Instant>,
}

impl Timers {
    /// Sets the time of a key, in place of an earlier or a later one.
    pub(super) fn set(&mut self, key: &str, time: Option<Instant>) {
        if let Some(before) = self.times.remove(key) {
            self.order.remove(&(before, key.to_owned()));
        }
        if let Some(time) = time {
            self.times.insert(key.to_owned(), time);
            self.order.insert((time, key.to_owned()));
        }
    }

    /// Takes the next key whose time has come.
    pub(super) fn due(&mut self, now: Instant) -> Option<String> {
        let (time, key) = self.order.first()?.clone();
        if time > now {
            return None;
        }
        self.set(&key, None);
        Some(key)
    }

    /// When the next time comes.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn keys_come_in_time_and_once() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut timers = Timers::default();
        timers.set("late", Some(after(9)));
        timers.set("soon", Some(after(1)));
        timers.set("soon", Some(after(2)));
        timers.set("never", Some(after(1)));
        timers.set("never", None);
        assert_eq!(timers.next(), Some(after(2)));
        assert_eq!(timers.due(after(1)), None);
        assert_eq!(timers.due(after(3)).as_deref(), Some("soon"));
        assert_eq!(timers.due(after(3)), None);
        assert_eq!(timers.due(after(9)).as_deref(), Some("late"));
        assert_eq!(timers.next(), None);
    }
}
