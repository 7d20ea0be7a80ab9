//! An outage: the provider's API is temporarily unavailable, while load balancers that stand go
//! on standing, and what the cloud was making is made.
//!
//! Most clouds have such minutes, and a driver has to tell them from rejections. A rejection says what
//! the cloud holds ("there is no such listener") and stays the same until somebody does something
//! about it; an outage says nothing at all, and is over after a while. To take one for the other
//! is how backends are forgotten that still get traffic.

use super::Cloud;
use super::model::Model;
use std::fmt;
use std::time::Duration;

/// What the cloud says about when to try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The API is temporarily unavailable; what it holds is not known.
///
/// Like [`CloudError`] it is no [`std::error::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// When to try again, as the cloud says.
    pub retry_after: Duration,
}

/// Why a call of the cloud's API did not do its work.
///
/// It is no [`std::error::Error`], so that a driver says in one place what each of the two means
/// for its caller, and none slips through as the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloudError<E> {
    /// The API did not look at the call.
    Unavailable(Unavailable),
    /// It did, and refuses.
    Refused(E),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cloud's API is temporarily unavailable")
    }
}

impl<E: fmt::Display> fmt::Display for CloudError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(unavailable) => unavailable.fmt(f),
            Self::Refused(why) => why.fmt(f),
        }
    }
}

impl Cloud {
    /// Begins or ends an outage. During one every call of the API is answered with
    /// [`Unavailable`]; looking at the cloud from outside ([`observe`](Self::observe),
    /// [`state`](Self::state)) works on. [`reset`](Self::reset) ends it.
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

    /// Whether there is an outage.
    #[must_use]
    pub fn has_outage(&self) -> bool {
        self.with(|model, _| model.outage)
    }

    /// A call of the API, which an outage keeps from being looked at.
    pub(super) fn call<R, E>(
        &self,
        work: impl FnOnce(&mut Model, Duration) -> Result<R, E>,
    ) -> Result<R, CloudError<E>> {
        self.with(|model, now| {
            model.reachable().map_err(CloudError::Unavailable)?;
            work(model, now).map_err(CloudError::Refused)
        })
    }
}

impl Model {
    /// Whether the API looks at calls.
    pub(super) const fn reachable(&self) -> Result<(), Unavailable> {
        if self.outage {
            Err(Unavailable {
                retry_after: RETRY_AFTER,
            })
        } else {
            Ok(())
        }
    }
}
