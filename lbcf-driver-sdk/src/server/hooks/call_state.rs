//! The state of an operation, for the calls that wait for it.
//!
//! `tokio::sync::watch` offers the same for 2,400 instructions more per call (the README's section
//! on speed), most of them for waking its eight lists of waiters.

use crate::server::reject::HookResponse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug, Clone)]
pub(super) enum CallState {
    /// Waits for earlier operations.
    Queued,
    /// Waits because of the rate of hooks.
    AwaitsToken,
    /// Waits for a permit to run.
    AwaitsPermit,
    Running,
    Done(HookResponse),
    /// Its task was dropped: the runtime is shutting down.
    Aborted,
}

impl CallState {
    const fn is_final(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Aborted)
    }
}

/// Publishes an operation's state; [`CallState::Aborted`] when dropped before a final one.
#[derive(Debug)]
pub(super) struct StateSender(StateReceiver);

#[derive(Debug, Clone)]
pub(super) struct StateReceiver(Arc<SharedState>);

#[derive(Debug)]
struct SharedState {
    state: Mutex<CallState>,
    is_final: Notify,
}

impl StateSender {
    pub(super) fn new(state: CallState) -> Self {
        Self(StateReceiver(Arc::new(SharedState {
            state: Mutex::new(state),
            is_final: Notify::new(),
        })))
    }

    pub(super) fn subscribe(&self) -> StateReceiver {
        self.0.clone()
    }

    pub(super) fn has_receivers(&self) -> bool {
        Arc::strong_count(&self.0.0) > 1
    }

    pub(super) fn send(&self, state: CallState) {
        let is_final = state.is_final();
        *self.0.lock() = state;
        if is_final {
            self.0.0.is_final.notify_waiters();
        }
    }
}

impl Drop for StateSender {
    fn drop(&mut self) {
        if self.has_receivers() && !self.0.lock().is_final() {
            self.send(CallState::Aborted);
        }
    }
}

impl StateReceiver {
    pub(super) fn current(&self) -> CallState {
        self.lock().clone()
    }

    /// Waits for the final state.
    pub(super) async fn end(&self) -> CallState {
        loop {
            // Registered before the state is read, so that no notification is missed.
            let notified = self.0.is_final.notified();
            let current = self.current();
            if current.is_final() {
                return current;
            }
            notified.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, CallState> {
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}
