//! Lanes: how many keys are worked on at a time for one driver, or one load balancer.
//!
//! A key that needs a lane that is full waits beside the queue's lines and takes no worker's place:
//! a driver that is slow holds up no other driver, and what it is to take away still comes before
//! what it is to add.

use super::WorkKey;
use crate::api::StringMap;
use crate::key::ObjectKey;
use std::collections::{HashMap, VecDeque};

/// What is worked on in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// All that a driver does (u38).
    Driver(ObjectKey),
    /// All that a driver does to one load balancer, where it asks for one call at a time (b159).
    LoadBalancer(ObjectKey, StringMap),
}

#[derive(Debug, Default)]
pub(super) struct Lanes(HashMap<Lane, Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    running: usize,
    first: VecDeque<WorkKey>,
    in_turn: VecDeque<WorkKey>,
}

impl Lanes {
    /// Takes a place in a lane, if it has one.
    pub(super) fn enter(&mut self, lane: &Lane, limit: usize) -> bool {
        let waiting = self.0.entry(lane.clone()).or_default();
        let has_place = waiting.running < limit.max(1);
        if has_place {
            waiting.running += 1;
        }
        has_place
    }

    /// Lets a key wait for a place in a lane that is full.
    pub(super) fn wait(&mut self, lane: &Lane, key: WorkKey, is_first: bool) {
        let waiting = self.0.entry(lane.clone()).or_default();
        if is_first {
            waiting.first.push_back(key);
        } else {
            waiting.in_turn.push_back(key);
        }
    }

    /// Gives a place back.
    pub(super) fn leave(&mut self, lane: &Lane) {
        if let Some(waiting) = self.0.get_mut(lane) {
            waiting.running = waiting.running.saturating_sub(1);
            self.forget_if_empty(lane);
        }
    }

    /// The next key that waits for a lane.
    pub(super) fn next(&mut self, lane: &Lane) -> Option<WorkKey> {
        let waiting = self.0.get_mut(lane)?;
        let key = waiting
            .first
            .pop_front()
            .or_else(|| waiting.in_turn.pop_front());
        self.forget_if_empty(lane);
        key
    }

    fn forget_if_empty(&mut self, lane: &Lane) {
        let is_empty = self.0.get(lane).is_some_and(|waiting| {
            waiting.running == 0 && waiting.first.is_empty() && waiting.in_turn.is_empty()
        });
        if is_empty {
            self.0.remove(lane);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
