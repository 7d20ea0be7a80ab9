//! What came of a call, as a label.

use crate::webhook::Class;

/// What a caller was told, or that it was told nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Outcome {
    /// `status: Succ`
    Succ,
    /// `status: Fail`
    Fail,
    /// `status: Running`
    Running,
    /// `succ: true`
    Yes,
    /// `succ: false`
    No,
    /// `healthy: true`
    Healthy,
    /// `healthy: false`
    Unhealthy,
    /// A 4xx status: that was no proper call.
    Rejected,
    /// A 500: the hook panicked.
    Panicked,
    /// Nothing: the caller went away first.
    HungUp,
}

impl Outcome {
    /// All there are, each at its own number.
    pub(in crate::server) const ALL: [Self; 10] = [
        Self::Succ,
        Self::Fail,
        Self::Running,
        Self::Yes,
        Self::No,
        Self::Healthy,
        Self::Unhealthy,
        Self::Rejected,
        Self::Panicked,
        Self::HungUp,
    ];

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Succ => "succ",
            Self::Fail => "fail",
            Self::Running => "running",
            Self::Yes => "yes",
            Self::No => "no",
            Self::Healthy => "healthy",
            Self::Unhealthy => "unhealthy",
            Self::Rejected => "rejected",
            Self::Panicked => "panicked",
            Self::HungUp => "hung_up",
        }
    }

    /// Whether calls of this class can come to it.
    pub(super) const fn is_of(self, class: Class) -> bool {
        match self {
            Self::Succ | Self::Fail | Self::Running => matches!(class, Class::Operation),
            Self::Yes | Self::No => matches!(class, Class::Verdict),
            Self::Healthy | Self::Unhealthy => matches!(class, Class::Health),
            Self::Rejected | Self::Panicked | Self::HungUp => true,
        }
    }
}
