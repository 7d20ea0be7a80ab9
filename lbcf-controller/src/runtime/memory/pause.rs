//! Drivers that are not called for a while, because their cloud limits the calls.

use super::{Memory, left_until};
use crate::api::ObjectKey;
use crate::index::RequestKey;
use crate::process::backoff::spread;
use std::time::Duration;
use tokio::time::Instant;

impl Memory {
    /// Pauses the operations of a driver, except those about the object whose call was refused: that has a delay of its
    /// own. A longer pause stays.
    pub(crate) fn pause(&self, driver: &ObjectKey, by: Option<&RequestKey>, pause: Duration) {
        let until = Instant::now() + pause;
        self.with(&RequestKey::Driver(driver.clone()), |notes| {
            if notes
                .paused
                .as_ref()
                .is_none_or(|(known, _)| *known < until)
            {
                notes.paused = Some((until, by.cloned()));
            }
        });
    }

    /// The time until a driver may be called about an object. It differs, so that not all objects that wait call at
    /// once.
    pub(crate) fn pause_left(
        &self,
        driver: &ObjectKey,
        key: Option<&RequestKey>,
    ) -> Option<Duration> {
        self.with(&RequestKey::Driver(driver.clone()), |notes| {
            let (until, by) = notes.paused.as_ref()?;
            let Some(left) = left_until(*until) else {
                notes.paused = None;
                return None;
            };
            (key.is_none() || by.as_ref() != key).then(|| spread(left))
        })
    }
}
