//! Classes of failures.

/// Why an operation failed, as a word beside its message. The words are those of clouds and of gRPC's codes; others
/// may follow, and an unknown one means the same as none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A value of the object will never be accepted; the user has to change it.
    InvalidArgument,
    /// The load balancer does not exist any more.
    NotFound,
    /// The account or the load balancer has no room; the user has to free some.
    QuotaExceeded,
    /// The cloud limits how often it is called.
    Throttled,
    /// Somebody else has what the operation wants: a name, a port, a lock.
    Conflict,
    /// The cloud does not respond, or not properly.
    Unavailable,
    /// The driver's credentials do not allow the operation.
    PermissionDenied,
    /// A defect of the driver or of the cloud.
    Internal,
}

impl Reason {
    /// Every reason that this edition of the specification defines.
    pub const ALL: [Self; 8] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::QuotaExceeded,
        Self::Throttled,
        Self::Conflict,
        Self::Unavailable,
        Self::PermissionDenied,
        Self::Internal,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "InvalidArgument",
            Self::NotFound => "NotFound",
            Self::QuotaExceeded => "QuotaExceeded",
            Self::Throttled => "Throttled",
            Self::Conflict => "Conflict",
            Self::Unavailable => "Unavailable",
            Self::PermissionDenied => "PermissionDenied",
            Self::Internal => "Internal",
        }
    }

    /// The reason of this name, if it is one.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}
