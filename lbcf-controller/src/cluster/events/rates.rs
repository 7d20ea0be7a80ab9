//! The number of events that an object and a namespace may have. A user that writes objects, and a driver that responds for them, make
//! the controller record events, and each is an object in the cluster for an hour.

use super::queue::Importance;
use crate::api::ObjectKey;
use lbcf_serving::token_bucket::TokenBucket;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;
use tokio::time::Instant;

const OBJECT_BURST: u32 = 25;
const OBJECT_INTERVAL: Duration = Duration::from_secs(60);
const NAMESPACE_BURST: u32 = 1000;
const NAMESPACE_INTERVAL: Duration = Duration::from_secs(1);

/// The time between two searches for buckets that are full again.
const CLEAN_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct EventRates {
    /// By kind and name.
    objects: HashMap<(String, ObjectKey), TokenBucket>,
    namespaces: HashMap<String, TokenBucket>,
    cleaned_at: Instant,
}

impl EventRates {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            objects: HashMap::new(),
            namespaces: HashMap::new(),
            cleaned_at: now,
        }
    }

    /// True if an object may have an event now, which is then counted. Successes leave half of its namespace's to others: a
    /// thousand backends are no reason to be silent about their group.
    pub(super) fn allow(
        &mut self,
        object: (String, ObjectKey),
        importance: Importance,
        now: Instant,
    ) -> bool {
        if now.duration_since(self.cleaned_at) >= CLEAN_INTERVAL {
            self.objects.retain(|_, bucket| !bucket.is_full(now));
            self.namespaces.retain(|_, bucket| !bucket.is_full(now));
            self.cleaned_at = now;
        }
        let namespace = object.1.namespace.to_string();
        let of_object = TokenBucket::with_interval(OBJECT_INTERVAL, OBJECT_BURST, now);
        let of_namespace = TokenBucket::with_interval(NAMESPACE_INTERVAL, NAMESPACE_BURST, now);
        // An object that has too many takes nothing from the others of its namespace.
        let rest = match importance {
            Importance::Success => NAMESPACE_BURST / 2,
            Importance::Kept => 0,
        };
        take(&mut self.objects, object, of_object, 0, now)
            && take(&mut self.namespaces, namespace, of_namespace, rest, now)
    }
}

fn take<K: Eq + Hash>(
    buckets: &mut HashMap<K, TokenBucket>,
    key: K,
    new: TokenBucket,
    rest: u32,
    now: Instant,
) -> bool {
    let bucket = buckets.entry(key).or_insert(new);
    bucket.take_leaving(rest, now).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(namespace: &str, number: u32) -> (String, ObjectKey) {
        let key = ObjectKey::new(namespace, number.to_string());
        ("BackendGroup".to_owned(), key)
    }

    /// The number of events of these objects that are allowed at once.
    fn allowed(rates: &mut EventRates, namespace: &str, objects: u32, now: Instant) -> usize {
        let events = (0..100_000).map(|number| object(namespace, number % objects));
        let is_allowed = |it: &_| rates.allow(Clone::clone(it), Importance::Kept, now);
        events.filter(is_allowed).count()
    }

    #[test]
    fn d107_an_object_and_a_namespace_have_so_many_events() {
        let began = Instant::now();
        let later = began + Duration::from_secs(120);
        let mut rates = EventRates::new(began);
        assert_eq!(allowed(&mut rates, "one", 1, began), 25);
        assert_eq!(allowed(&mut rates, "one", 1, later), 2);
        // The rest of the namespace's.
        assert_eq!(allowed(&mut rates, "one", 5000, later), 1000 - 2);
        assert_eq!(allowed(&mut rates, "other", 5000, later), 1000);
        let later = later + Duration::from_secs(30);
        assert_eq!(allowed(&mut rates, "other", 5000, later), 30);
    }

    #[test]
    fn d107_successes_leave_half_of_a_namespaces_events_to_others() {
        let now = Instant::now();
        let mut rates = EventRates::new(now);
        let mut success = |number| rates.allow(object("one", number), Importance::Success, now);
        assert_eq!((0..5000).filter(|number| success(*number)).count(), 500);
        assert_eq!(allowed(&mut rates, "one", 5000, now), 500);
    }

    #[test]
    fn d107_what_is_kept_is_forgotten_when_it_has_no_effect_any_more() {
        let began = Instant::now();
        let mut rates = EventRates::new(began);
        for hour in 0..5 {
            let now = began + Duration::from_secs(3600 * hour);
            for namespace in 0..500 {
                let namespace = format!("{hour}-{namespace}");
                assert!(rates.allow(object(&namespace, 1), Importance::Kept, now));
            }
            assert_eq!((rates.objects.len(), rates.namespaces.len()), (500, 500));
        }
    }
}
