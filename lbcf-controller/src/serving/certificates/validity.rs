//! From when to when a certificate is valid.

use jiff::{SignedDuration, Timestamp};
use x509_parser::certificate::X509Certificate;

/// From when to when a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::serving) struct Validity {
    from: Timestamp,
    to: Timestamp,
}

impl Validity {
    /// As the certificate has it; `None` for times that no calendar has.
    pub(in crate::serving) fn of(certificate: &X509Certificate<'_>) -> Option<Self> {
        let validity = certificate.validity();
        Some(Self {
            from: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
            to: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        })
    }

    /// When it ends.
    pub(in crate::serving) const fn end(&self) -> Timestamp {
        self.to
    }

    /// When it began.
    pub(super) const fn start(&self) -> Timestamp {
        self.from
    }

    /// Whether it has ended.
    pub(in crate::serving) fn is_over(&self, now: Timestamp) -> bool {
        self.to < now
    }

    /// Whether it has begun and not ended.
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        self.from <= now && !self.is_over(now)
    }

    /// Whether this part of it has passed.
    pub(super) fn is_past(&self, part: Part, now: Timestamp) -> bool {
        let whole = self.to.duration_since(self.from);
        let (numerator, denominator) = match part {
            Part::TwoThirds => (2, 3),
            Part::NineTenths => (9, 10),
        };
        let passed: SignedDuration = now.duration_since(self.from);
        passed >= whole / denominator * numerator
    }
}

/// A part of a certificate's life.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// After which it is renewed.
    TwoThirds,
    /// After which it is renewed if nobody else did.
    NineTenths,
}
