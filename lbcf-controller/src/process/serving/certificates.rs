//! The certificates that the controller signs: what is stored, which change is due, and the change.
//!
//! The API server calls webhooks over HTTPS and trusts only the CA certificates in a webhook
//! configuration. The controller has a CA of its own and signs the server's certificate with it, so
//! that no user has to maintain certificates and no two installations share a key. Both are
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
//! # What is stored is usable, or made again
//!
//! Where the stored CA cannot sign, because the Secret was deleted or damaged, there is a new CA. A replica
//! that serves a certificate keeps publishing the CA that signed it, so a new CA comes in the same two steps.
//!
//! Nothing here does I/O or reads a clock.

mod decide;
mod found;
mod names;
mod server;
mod sign;
#[cfg(test)]
pub(super) mod tests;

pub(super) use decide::{Plan, decide};
pub(super) use found::{Bundle, Found};
pub(crate) use names::{NameError, Names};
pub(super) use server::{PrivatePem, own_validity};
pub(super) use sign::{SignError, carry_out};

use jiff::SignedDuration;

const CA_LIFETIME: SignedDuration = SignedDuration::from_hours(365 * 24);
const SERVER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// The part of its lifetime after which a certificate is renewed.
const RENEWED_AFTER: (i32, i32) = (2, 3);
/// Certificates are valid from this long before they are signed, as clocks differ.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// A new CA is published this long before it signs: far longer than API servers need to load it, and
/// than a rotation that began before may take.
pub(super) const PUBLISH_GRACE: SignedDuration = SignedDuration::from_mins(10);
/// Another replica may serve a certificate this long after it was replaced: far longer than the interval of
/// its rotations.
const REPLACED_IS_SERVED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The number of CA certificates that are kept. More than two come only of repeated damage.
const MAX_CAS: usize = 8;
