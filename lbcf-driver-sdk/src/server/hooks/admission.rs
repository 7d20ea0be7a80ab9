//! The way of an operation to its turn.

use super::batch::Place;
use super::call_state::{CallState, StateSender};
use crate::server::hashed::Prehashed;
use crate::server::keyed_mutex::Waiter;
use crate::server::limits::{HookPermit, HookPermits, Queued};
use crate::server::rate::HookRate;
use crate::server::single_flight::IdempotencyKey;
use std::hash::RandomState;
use std::sync::Arc;

type RecordWaiter = Waiter<IdempotencyKey, Prehashed>;
type LoadBalancerWaiter = Waiter<String, RandomState, Option<Arc<Place>>>;

/// The locks, the token and the permit that an operation acquires before it runs, in this order.
pub(super) struct Admission {
    pub(super) record: RecordWaiter,
    pub(super) load_balancer: Option<LoadBalancerWaiter>,
    pub(super) permit: Result<HookPermit, Queued>,
    pub(super) place: Option<Arc<Place>>,
    /// The serial key, or nothing, for an operation that takes a token.
    pub(super) token: Option<Option<String>>,
}

impl Admission {
    /// Waits for all of it. The keys are to be held until the end of the operation. One that is taken along in a batch needs
    /// nothing but its record.
    pub(super) async fn acquire(
        mut self,
        permits: &HookPermits,
        rate: &HookRate,
        state: &StateSender,
    ) -> (RecordWaiter, Option<LoadBalancerWaiter>, Option<HookPermit>) {
        let Err(queued) = self.permit else {
            return (self.record, self.load_balancer, self.permit.ok());
        };
        self.record.acquire().await;
        if let Some(mut load_balancer) = self.load_balancer.take() {
            if let Some(place) = &self.place {
                tokio::select! {
                    biased;
                    () = place.taken() => {
                        state.send(CallState::Running);
                        return (self.record, None, None);
                    }
                    () = load_balancer.acquire() => {}
                }
            } else {
                load_balancer.acquire().await;
            }
            self.load_balancer = Some(load_balancer);
        }
        if let Some(at) = self.token.and_then(|key| rate.reserve(key.as_deref())) {
            state.send(CallState::AwaitsToken);
            tokio::time::sleep_until(at).await;
        }
        let permit = match permits.try_acquire() {
            Some(permit) => Some(permit),
            None => {
                state.send(CallState::AwaitsPermit);
                permits.acquire().await
            }
        };
        drop(queued);
        state.send(CallState::Running);
        (self.record, self.load_balancer, permit)
    }
}
