//! The certificates that the controller signs: what is stored, which change is due, and the change.
//!
//! The API server calls webhooks over HTTPS and trusts only the CA certificates in a webhook
//! configuration. The controller has a CA of its own and signs the server's certificate with it, so
//! that no user has to maintain certificates and no two installations share a key (u47). Both are
//! renewed long before they expire.
//!
//! # How a CA is replaced
//!
//! API servers accept a certificate of the new CA only when they have that CA. So it is replaced in two
//! steps. Each leaves a state that works, even if the controller is killed after it:
//!
//! 1. The new CA is stored before the old one, and its key instead of the old one's; the server's
//!    certificate stays. Every replica publishes both CAs.
//! 2. When both have been published for [`PUBLISH_GRACE`], the server's certificate is signed by the
//!    new CA. The old one stays published while another replica may serve a certificate that it
//!    signed.
//!
//! The key of the old CA is dropped with the first step, as it signs nothing any more.
//!
//! Nothing here does I/O or reads a clock.

mod bundle;
mod decide;
mod found;
mod make;
mod names;
#[cfg(test)]
pub(super) mod tests;
mod validity;

pub(super) use bundle::{Bundle, PrivatePem};
pub(super) use decide::{Plan, decide};
pub(super) use found::Found;
pub(super) use make::{MakeError, carry_out};
pub(crate) use names::{NameError, Names};
pub(super) use validity::Validity;

use jiff::SignedDuration;

const CA_LIFETIME: SignedDuration = SignedDuration::from_hours(365 * 24);
const SERVER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// The part of its lifetime after which a certificate of the controller's own is renewed.
const RENEWED_AFTER: (i32, i32) = (2, 3);
/// The part after which one is replaced that another maintainer should have renewed.
const FOREIGN_REPLACED_AFTER: (i32, i32) = (9, 10);
/// Certificates are valid from this long before they are signed, as clocks differ.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// How long a new CA is published before it signs: far longer than API servers need to load it, and
/// than a rotation that began before may take.
pub(super) const PUBLISH_GRACE: SignedDuration = SignedDuration::from_mins(10);
/// How long another replica may serve a certificate that was replaced: far longer than the interval of
/// its rotations.
const REPLACED_IS_SERVED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The number of CA certificates that are kept. More than two come only of repeated damage.
const MAX_CAS: usize = 8;
