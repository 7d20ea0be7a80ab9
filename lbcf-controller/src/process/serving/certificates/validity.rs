//! From when to when a certificate is valid.

use jiff::Timestamp;
use x509_parser::certificate::X509Certificate;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process::serving) struct Validity {
    pub(in crate::process::serving) start: Timestamp,
    pub(in crate::process::serving) end: Timestamp,
}

impl Validity {
    /// `None` for times out of range.
    pub(in crate::process::serving) fn of(certificate: &X509Certificate<'_>) -> Option<Self> {
        let validity = certificate.validity();
        Some(Self {
            start: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
            end: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        })
    }

    pub(in crate::process::serving) fn is_over(&self, now: Timestamp) -> bool {
        self.end < now
    }

    pub(super) fn holds(&self, now: Timestamp) -> bool {
        self.start <= now && !self.is_over(now)
    }

    /// Whether a part of the lifetime, as numerator and denominator, has passed.
    pub(super) fn is_past(&self, (numerator, denominator): (i32, i32), now: Timestamp) -> bool {
        let lifetime = self.end.duration_since(self.start);
        now.duration_since(self.start) >= lifetime / denominator * numerator
    }
}
