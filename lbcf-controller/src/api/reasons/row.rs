//! A row of the tables of reasons.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

/// A reason of conditions and events: only those in the tables exist. It is its name, in CamelCase, where a text is needed.
#[derive(Debug, PartialEq, Eq)]
pub struct ReportReason {
    pub(super) name: &'static str,
    pub(super) kinds: &'static [&'static str],
    pub(super) meaning: &'static str,
    pub(super) advice: &'static str,
}

impl ReportReason {
    /// The kinds whose conditions or events have it.
    #[must_use]
    pub const fn kinds(&self) -> &'static [&'static str] {
        self.kinds
    }

    /// The situation that it names.
    #[must_use]
    pub const fn meaning(&self) -> &'static str {
        self.meaning
    }

    /// A user's next step, or that none is needed.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        self.advice
    }
}

impl Display for ReportReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Deref for ReportReason {
    type Target = str;

    fn deref(&self) -> &str {
        self.name
    }
}

impl PartialEq<str> for ReportReason {
    fn eq(&self, other: &str) -> bool {
        self.name == other
    }
}

impl PartialEq<&ReportReason> for String {
    fn eq(&self, other: &&ReportReason) -> bool {
        *self == other.name
    }
}

/// Declares each reason as a constant, and the list of all of them.
macro_rules! reasons {
    ($all:ident: $($constant:ident $name:expr, [$($kind:ident)*] $meaning:expr, $advice:expr;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: &ReportReason = &ReportReason {
                name: $name,
                kinds: &[$(stringify!($kind)),*],
                meaning: $meaning,
                advice: $advice,
            };
        )*

        /// Every one of them, in the order of their names.
        pub const $all: &[&ReportReason] = &[$($constant),*];
    };
}

pub(super) use reasons;
