//! The rate at which hooks start that change something, for clouds that limit calls.
//!
//! A hook takes its token after its turn has come and before its permit: those that wait for tokens keep no permits from decisions,
//! and a batch grows meanwhile.

use super::Settings;
use lbcf_serving::token_bucket::TokenBucket;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Beyond this number, buckets that are full are forgotten.
const BUCKETS: usize = 1024;

/// The rate of one router.
#[derive(Debug)]
pub(super) struct HookRate {
    per_second: Option<u32>,
    by_serial_key: bool,
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

impl HookRate {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            per_second: settings.max_hooks_per_second,
            by_serial_key: settings.hook_rate_by_key,
            buckets: Mutex::default(),
        }
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&self, serial_key: Option<&str>) -> bool {
        let taken = self.with(serial_key, |bucket, now| bucket.take(now).is_ok());
        taken.unwrap_or(true)
    }

    /// Takes the next token; returns when there will be one if that is not at once.
    pub(super) fn reserve(&self, serial_key: Option<&str>) -> Option<Instant> {
        self.with(serial_key, |bucket, now| {
            Some(bucket.reserve(now)).filter(|at| *at > now)
        })
        .flatten()
    }

    fn with<R>(
        &self,
        serial_key: Option<&str>,
        act: impl FnOnce(&mut TokenBucket, Instant) -> R,
    ) -> Option<R> {
        let per_second = self.per_second?;
        let key = serial_key.filter(|_| self.by_serial_key);
        let (mut buckets, now) = (self.buckets(), Instant::now());
        if buckets.len() > BUCKETS {
            buckets.retain(|_, bucket| !bucket.is_full(now));
        }
        // Without a burst: after a pause clouds that count by the second would refuse some of it.
        let bucket = buckets.entry(key.unwrap_or_default().to_owned());
        let bucket = bucket.or_insert_with(|| TokenBucket::new(per_second, 1, now));
        Some(act(bucket, now))
    }

    fn buckets(&self) -> MutexGuard<'_, HashMap<String, TokenBucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
