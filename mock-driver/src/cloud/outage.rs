//! An outage: the provider's API is temporarily unavailable, or refuses a call because there were too
//! many, while load balancers keep working and creations complete.
//!
//! A driver has to distinguish outages from rejections. A rejection is about what the cloud holds
//! ("there is no such listener") and stays the same until a user changes that; an outage means that
//! nothing is known, and ends after a while. A driver that takes one for the other forgets backends
//! that still receive traffic.

use super::Cloud;
use super::model::Model;
use std::fmt;
use std::time::Duration;

/// The delay that the cloud asks clients for.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The API is temporarily unavailable; what it holds is not known.
///
/// Like [`CloudError`] it is no [`std::error::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The delay before the next try.
    pub retry_after: Duration,
    /// The calls per second that it processes, if there were more.
    pub throttled_to: Option<u32>,
}

impl Unavailable {
    pub(super) const fn throttled(limit: u32) -> Self {
        Self {
            retry_after: RETRY_AFTER,
            throttled_to: Some(limit),
        }
    }
}

/// Why a call of the cloud's API failed.
///
/// It is no [`std::error::Error`], so that `?` in a driver uses the driver's own conversion, and an
/// outage is never reported as a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloudError<E> {
    /// The API has not processed the call.
    Unavailable(Unavailable),
    /// The API has processed and rejected the call.
    Rejected(E),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.throttled_to {
            None => f.write_str("the cloud's API is temporarily unavailable"),
            Some(limit) => write!(f, "the quota max-calls-per-second of {limit} is used up"),
        }
    }
}

impl<E: fmt::Display> fmt::Display for CloudError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(unavailable) => unavailable.fmt(f),
            Self::Rejected(why) => why.fmt(f),
        }
    }
}

impl Cloud {
    /// Starts or ends an outage. During one, every call of the API fails with [`Unavailable`];
    /// [`observe`](Self::observe) and [`state`](Self::state) keep working. [`reset`](Self::reset)
    /// ends it.
    ///
    /// ```
    /// use mock_driver::{Cloud, CloudError, Endpoint};
    ///
    /// let cloud = Cloud::with_samples();
    /// let endpoint = Endpoint {
    ///     load_balancer: "lb-1234".into(),
    ///     listener: "lbl-2234".into(),
    ///     domain: None,
    ///     url: None,
    /// };
    /// cloud.set_outage(true);
    /// assert!(matches!(cloud.find(&endpoint), Err(CloudError::Unavailable(_))));
    /// cloud.set_outage(false);
    /// assert_eq!(cloud.find(&endpoint), Ok(()));
    /// ```
    pub fn set_outage(&self, on: bool) {
        self.with(|model, _| model.outage = on);
    }

    /// Whether the API is unavailable.
    #[must_use]
    pub fn has_outage(&self) -> bool {
        self.read(|model, _| model.outage)
    }
}

impl Model {
    /// Fails during an outage, and when there are too many calls.
    pub(super) fn reachable(&mut self, now: Duration) -> Result<(), Unavailable> {
        if self.outage {
            return Err(Unavailable {
                retry_after: RETRY_AFTER,
                throttled_to: None,
            });
        }
        self.check_rate(now)
    }
}
