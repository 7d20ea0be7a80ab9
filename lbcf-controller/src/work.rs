//! Work: which object has to be looked at, and how soon.

use crate::key::WorkKey;

/// How soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Together with whatever else comes within a moment: a count that changed.
    Soon,
    /// In turn.
    InTurn,
    /// Before all that only adds: traffic may be going where nobody listens.
    First,
}

/// One object that has to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    /// Which.
    pub key: WorkKey,
    /// How soon.
    pub urgency: Urgency,
}

impl Work {
    pub(crate) const fn soon(key: WorkKey) -> Self {
        Self {
            key,
            urgency: Urgency::Soon,
        }
    }

    pub(crate) const fn in_turn(key: WorkKey) -> Self {
        Self {
            key,
            urgency: Urgency::InTurn,
        }
    }

    pub(crate) const fn first(key: WorkKey) -> Self {
        Self {
            key,
            urgency: Urgency::First,
        }
    }
}

impl Progress {
    /// The sooner of two, a failure before all: whoever failed is not looked at sooner because
    /// something else about it went well.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Retry(one), Self::Retry(other)) => Self::Retry(match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }),
            (retry @ Self::Retry(_), _) | (_, retry @ Self::Retry(_)) => retry,
            (Self::Again, _) | (_, Self::Again) => Self::Again,
            (Self::After(one), Self::After(other)) => Self::After(one.min(other)),
            (after @ Self::After(_), _) | (_, after @ Self::After(_)) => after,
            (Self::Settled, Self::Settled) => Self::Settled,
        }
    }
}

/// What came of looking at an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Something was done; there may be more to do.
    Again,
    /// Nothing is left to do until something changes.
    Settled,
    /// Nothing failed, but it is to be looked at again after this time: a driver is still
    /// running, or a status was written a moment ago.
    After(std::time::Duration),
    /// It failed. It is tried again: after this time where the driver named one, else at growing
    /// intervals (d22).
    Retry(Option<std::time::Duration>),
}
