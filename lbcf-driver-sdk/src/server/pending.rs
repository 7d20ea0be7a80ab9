//! Why a call has no result.

/// Why a call has no result by its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    Running,
    /// Waits for earlier operations.
    Queued,
    /// Waits because of the rate of hooks.
    NoToken,
    /// Waits for a permit to run.
    NoPermit,
    /// Not started: too many hooks wait.
    Overloaded,
}

impl Pending {
    /// In the order of the discriminants.
    pub(super) const ALL: [Self; 5] = [
        Self::Running,
        Self::Queued,
        Self::NoToken,
        Self::NoPermit,
        Self::Overloaded,
    ];

    /// The label of metrics.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Queued => "waits_for_turn",
            Self::NoToken => "waits_for_rate",
            Self::NoPermit => "waits_for_place",
            Self::Overloaded => "too_many_wait",
        }
    }
}
