//! Which backends that are not ready stay registered: when most of an owner's become unready at once, the cause is
//! rarely in each of them, and without targets no request is served. No I/O; the time is an argument.

use crate::index::Unit;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// Fewer registered backends are not braked: half of them would be one.
const FEWEST: usize = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time within which backends leave at once, and between two that are braked; zero for no brake.
    pub interval: Duration,
    /// So many backends stay registered, ready or not.
    pub min_registered: usize,
}

/// An owner's backends that are not ready.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Brake {
    /// The number that was registered when the first of these left.
    peak: usize,
    /// When the last one left.
    last: Option<Instant>,
    /// Those that stay registered.
    held: BTreeSet<Unit>,
}

impl Brake {
    /// The brake of an owner whose backends another process has held.
    pub(crate) fn resumed(registered: usize, now: Instant) -> Self {
        Self {
            peak: 2 * registered,
            last: Some(now),
            held: BTreeSet::new(),
        }
    }

    /// Which of these unready units leave now; the others are held. `registered` counts the units that are registered,
    /// these included.
    pub(crate) fn release(
        &mut self,
        unready: BTreeSet<Unit>,
        registered: usize,
        limits: Limits,
        now: Instant,
    ) -> BTreeSet<Unit> {
        if self.held.is_empty() && self.wait(limits, now).is_none() {
            self.peak = registered;
        }
        let most = self.most(registered, limits, now);
        let mut units = unready.into_iter();
        let leaving: BTreeSet<Unit> = units.by_ref().take(most).collect();
        self.held.extend(units);
        self.held.retain(|unit| !leaving.contains(unit));
        if !leaving.is_empty() {
            self.last = Some(now);
        }
        leaving
    }

    /// The number that may leave now.
    pub(crate) fn most(&self, registered: usize, limits: Limits, now: Instant) -> usize {
        let most = match registered.saturating_sub(self.peak.div_ceil(2)) {
            _ if limits.interval.is_zero() || self.peak < FEWEST => usize::MAX,
            0 => usize::from(self.wait(limits, now).is_none()),
            at_once => at_once,
        };
        most.min(registered.saturating_sub(limits.min_registered))
    }

    /// Forgets a unit that is ready again, or leaves for another reason.
    pub(crate) fn forget(&mut self, unit: &Unit) {
        self.held.remove(unit);
    }

    pub(crate) const fn held(&self) -> &BTreeSet<Unit> {
        &self.held
    }

    /// The time until the next one may leave; none if it may now.
    pub(crate) fn wait(&self, limits: Limits, now: Instant) -> Option<Duration> {
        let left = limits
            .interval
            .saturating_sub(now.duration_since(self.last?));
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests;
