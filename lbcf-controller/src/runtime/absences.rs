//! Since when addresses of an owner are in no EndpointSlice (d61).
//!
//! An endpoint that moves to another slice is in neither for a moment if the slices are written one after
//! the other. This is kept in memory only: after a start they wait the whole time again.

use crate::index::{Owner, Unit};
use crate::process::lock::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct Absences(Mutex<HashMap<Owner, BTreeMap<Unit, Instant>>>);

impl Absences {
    /// Returns the rest of `grace_period`, which begins with the first call for an absent unit; zero
    /// when it is over.
    pub(crate) fn wait(&self, owner: &Owner, unit: &Unit, grace_period: Duration) -> Duration {
        let now = Instant::now();
        let mut absences = self.0.lock();
        let of_owner = absences.entry(owner.clone()).or_default();
        let since = *of_owner.entry(Unit::clone(unit)).or_insert(now);
        grace_period.saturating_sub(now.duration_since(since))
    }

    /// Ends the wait for a unit that is back, or has no records any more.
    pub(crate) fn end(&self, owner: &Owner, unit: &Unit) {
        let mut absences = self.0.lock();
        if let Some(of_owner) = absences.get_mut(owner) {
            of_owner.remove(unit);
            if of_owner.is_empty() {
                absences.remove(owner);
            }
        }
    }

    /// The units whose time is over, and how much is left of that of the next one.
    pub(crate) fn over(
        &self,
        owner: &Owner,
        grace_period: Duration,
    ) -> (Vec<Unit>, Option<Duration>) {
        let (now, absences) = (Instant::now(), self.0.lock());
        let (mut over, mut next) = (Vec::new(), None);
        for (unit, since) in absences.get(owner).into_iter().flatten() {
            let left = grace_period.saturating_sub(now.duration_since(*since));
            if left.is_zero() {
                over.push(Unit::clone(unit));
            } else {
                next = Some(next.map_or(left, |next: Duration| next.min(left)));
            }
        }
        (over, next)
    }

    pub(crate) fn remove(&self, owner: &Owner) {
        self.0.lock().remove(owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    #[tokio::test(start_paused = true)]
    async fn d61_a_unit_is_waited_for_once_and_until_it_is_back() {
        let (absences, owner) = (
            Absences::default(),
            Owner::Group(ObjectKey::new("ns", "web")),
        );
        let (a, b): (Unit, Unit) = ("10.0.0.1".into(), "10.0.0.2".into());
        let grace = Duration::from_secs(3);
        assert_eq!(absences.over(&owner, grace), (Vec::new(), None));
        assert_eq!(absences.wait(&owner, &a, grace), grace);
        tokio::time::advance(grace / 3).await;
        assert_eq!(absences.wait(&owner, &b, grace), grace);
        assert_eq!(absences.wait(&owner, &a, grace), grace / 3 * 2);
        tokio::time::advance(grace / 3 * 2).await;
        assert_eq!(
            absences.over(&owner, grace),
            (vec![a.clone()], Some(grace / 3))
        );
        absences.end(&owner, &a);
        absences.end(&owner, &b);
        assert!(absences.0.lock().is_empty(), "nothing is left behind");
        assert_eq!(absences.wait(&owner, &a, grace), grace);
    }
}
