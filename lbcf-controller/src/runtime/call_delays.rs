//! Delays the repetition of a call: by the delay of the driver's response, which is kept exactly, or by
//! the poll interval.
//!
//! An event may enqueue an object again although the call in flight has what the event reports. So the
//! delay does not hold for the object, but for a call: one with another request, or to a driver that was
//! changed, is made at once.

use crate::api::LoadBalancerDriver;
use crate::index::RequestKey;
use crate::process::lock::Mutex;
use lbcf_driver_sdk::webhook::{OperationRequest, Webhook};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use tokio::time::Instant;

/// The last call about an object that has to wait, and until when.
#[derive(Debug, Default)]
pub(crate) struct CallDelays(Mutex<HashMap<RequestKey, (CallDigest, Instant)>>);

/// A call without what differs between its repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallDigest(u64);

impl CallDigest {
    pub(crate) fn of<W>(driver: &LoadBalancerDriver, request: &W::Request) -> Self
    where
        W: Webhook<Request: OperationRequest>,
    {
        let mut hasher = DefaultHasher::new();
        (W::INFO.name, &driver.metadata.uid, &driver.spec.url).hash(&mut hasher);
        driver.metadata.generation.hash(&mut hasher);
        let content = serde_json::to_vec(&request.clone().without_retry_id());
        content.unwrap_or_default().hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl CallDelays {
    pub(crate) fn insert(&self, key: &RequestKey, call: CallDigest, delay: Duration) {
        if let Some(until) = Instant::now().checked_add(delay) {
            self.0.lock().insert(key.clone(), (call, until));
        }
    }

    /// Returns none if the call can be made at once. `call` is computed only where the last call was
    /// delayed.
    pub(crate) fn remaining(
        &self,
        key: &RequestKey,
        call: impl FnOnce() -> CallDigest,
    ) -> Option<Duration> {
        let mut delays = self.0.lock();
        let (delayed, until) = *delays.get(key)?;
        let remaining = until.saturating_duration_since(Instant::now());
        if remaining.is_zero() || delayed != call() {
            delays.remove(key);
            return None;
        }
        Some(remaining)
    }

    pub(crate) fn remove(&self, key: &RequestKey) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{LoadBalancerDriverSpec, ObjectKey};
    use lbcf_driver_sdk::webhook::{DeregisterBackend, DeregisterBackendRequest};

    fn request(addr: &str, retry_id: &str) -> DeregisterBackendRequest {
        DeregisterBackendRequest {
            record_id: "deregisterBackend(uid)".into(),
            retry_id: retry_id.into(),
            backend_addr: addr.into(),
            ..DeregisterBackendRequest::default()
        }
    }

    fn driver(generation: i64) -> LoadBalancerDriver {
        let mut driver = LoadBalancerDriver::new("d", LoadBalancerDriverSpec::default());
        driver.metadata.generation = Some(generation);
        driver
    }

    fn digest(generation: i64, addr: &str, retry_id: &str) -> CallDigest {
        CallDigest::of::<DeregisterBackend>(&driver(generation), &request(addr, retry_id))
    }

    #[tokio::test(start_paused = true)]
    async fn b138_d22_the_same_call_waits_and_another_one_does_not() {
        let delays = CallDelays::default();
        let key = RequestKey::Record(ObjectKey::new("ns", "r"));
        let second = Duration::from_secs(1);
        assert_eq!(delays.remaining(&key, || unreachable!()), None);
        delays.insert(&key, digest(1, "a", "1"), second);
        assert_eq!(delays.remaining(&key, || digest(1, "a", "2")), Some(second));
        tokio::time::advance(second / 4).await;
        let left = delays.remaining(&key, || digest(1, "a", "3"));
        assert_eq!(left, Some(second * 3 / 4));
        tokio::time::advance(second).await;
        assert_eq!(delays.remaining(&key, || digest(1, "a", "4")), None);
        for changed in [digest(2, "a", "5"), digest(1, "b", "5")] {
            delays.insert(&key, digest(1, "a", "5"), second);
            assert_eq!(delays.remaining(&key, || changed), None);
            assert_eq!(
                delays.remaining(&key, || digest(1, "a", "6")),
                None,
                "ended"
            );
        }
        delays.insert(&key, digest(1, "a", "7"), second);
        delays.remove(&key);
        assert_eq!(delays.remaining(&key, || digest(1, "a", "8")), None);
    }
}
