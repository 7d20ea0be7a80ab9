//! The in-flight calls of one router, and the timers that expire uncollected results.

use super::call_state::StateReceiver;
use crate::server::reject::HookResponse;
use crate::server::single_flight::{CallId, IdempotencyKey, InFlightCalls, Retained};
use prometheus::IntGauge;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The memory that uncollected results may take together with their requests.
const RETAINED_BYTES: usize = 64 << 20;

pub(super) struct SharedCalls {
    calls: Mutex<InFlightCalls<StateReceiver>>,
    keep_results: Duration,
}

impl SharedCalls {
    pub(super) fn new(keep_results: Duration, kept_results: IntGauge) -> Self {
        Self {
            calls: Mutex::new(InFlightCalls::new(RETAINED_BYTES, kept_results)),
            keep_results,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, InFlightCalls<StateReceiver>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn finished(
        self: &Arc<Self>,
        key: &IdempotencyKey,
        id: CallId,
        result: Option<HookResponse>,
    ) {
        let retained = self.lock().finished(key, id, result);
        self.expire_later(retained, key, id);
    }

    /// A caller stopped waiting without a result.
    pub(super) fn left(self: &Arc<Self>, key: &IdempotencyKey, id: CallId, promised: bool) {
        let retained = self.lock().left(key, id, promised);
        self.expire_later(retained, key, id);
    }

    fn expire_later(self: &Arc<Self>, retained: Retained, key: &IdempotencyKey, id: CallId) {
        if retained == Retained::No {
            return;
        }
        if self.keep_results.is_zero() {
            self.lock().expire(key, id);
            return;
        }
        // Without a runtime the process is shutting down.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (calls, key) = (Arc::downgrade(self), key.clone());
            let keep = self.keep_results;
            runtime.spawn(async move {
                tokio::time::sleep(keep).await;
                if let Some(calls) = calls.upgrade() {
                    calls.lock().expire(&key, id);
                }
            });
        }
    }
}
