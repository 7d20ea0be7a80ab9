//! The outcome of a call, as a label.

use crate::webhook::Class;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Succ,
    Fail,
    Running,
    Yes,
    No,
    Healthy,
    Unhealthy,
    /// A 4xx status: not a proper call.
    Rejected,
    /// A 500: the hook panicked.
    Panicked,
    /// The caller closed the connection before the response.
    HungUp,
}

impl Outcome {
    /// In the order of the discriminants.
    pub(super) const ALL: [Self; 10] = [
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

    /// True if calls of this class can have it.
    pub(super) const fn is_of(self, class: Class) -> bool {
        match self {
            Self::Succ | Self::Fail | Self::Running => matches!(class, Class::Operation),
            Self::Yes | Self::No => matches!(class, Class::Verdict),
            Self::Healthy | Self::Unhealthy => matches!(class, Class::Health),
            Self::Rejected | Self::Panicked | Self::HungUp => true,
        }
    }
}
