//! A call that waits for an operation. Dropping it means that the caller hung up.

use super::call_state::{CallState, StateReceiver};
use super::shared_calls::SharedCalls;
use crate::server::pending::Pending;
use crate::server::reject::{HookResponse, panicked};
use crate::server::single_flight::{CallId, IdempotencyKey};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

pub(in crate::server) struct WaitingCall {
    calls: Arc<SharedCalls>,
    key: IdempotencyKey,
    id: CallId,
    state: StateReceiver,
    end: WaitEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    GotResult,
    /// The response was `Running`, so the caller asks again.
    Promised,
    HungUp,
}

impl WaitingCall {
    pub(super) const fn new(
        calls: Arc<SharedCalls>,
        key: IdempotencyKey,
        id: CallId,
        state: StateReceiver,
    ) -> Self {
        Self {
            calls,
            key,
            id,
            state,
            end: WaitEnd::HungUp,
        }
    }

    /// The result, if there is one by the deadline.
    pub(in crate::server) async fn wait(
        mut self,
        webhook: &str,
        deadline: Instant,
    ) -> Result<HookResponse, Pending> {
        let state = match timeout_at(deadline, self.state.end()).await {
            Ok(state) => state,
            Err(_) => self.state.current(),
        };
        let pending = match state {
            CallState::Done(response) => {
                self.end = WaitEnd::GotResult;
                return Ok(response);
            }
            CallState::Aborted => return Ok(panicked(webhook)),
            CallState::Running => Pending::Running,
            CallState::AwaitsToken => Pending::NoToken,
            CallState::AwaitsPermit => Pending::NoPermit,
            CallState::Queued => Pending::Queued,
        };
        self.end = WaitEnd::Promised;
        Err(pending)
    }
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        match self.end {
            WaitEnd::GotResult => self.calls.lock().delivered(&self.key, self.id),
            WaitEnd::Promised => self.calls.left(&self.key, self.id, true),
            WaitEnd::HungUp => self.calls.left(&self.key, self.id, false),
        }
    }
}
