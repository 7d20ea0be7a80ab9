//! The certificates that the controller makes for itself: what is there, what is to be done about
//! it, and doing it.
//!
//! The API server calls webhooks over HTTPS and trusts only the CA certificates that a webhook
//! configuration names. So that nobody has to keep certificates for the controller, and no two
//! installations share a key (u47), it keeps a CA of its own and signs the server's certificate
//! with it; both are renewed long before they end.
//!
//! # How a CA is replaced
//!
//! A certificate of the new CA is worth nothing until the API servers know that CA. So it comes in
//! two steps, each of which leaves a state that works, whoever dies after it:
//!
//! 1. The new CA goes in front of the old one, and takes over its key's place; the server's
//!    certificate stays. Whoever reads the bundle publishes both CAs.
//! 2. When both have been seen published for [`PUBLISH_GRACE`], the server's certificate is signed
//!    by the new CA. The old one stays published for as long as another replica may serve a
//!    certificate that it signed.
//!
//! The key of the old CA is gone with the first step: it has nothing left to sign.
//!
//! Nothing here does I/O or looks at a clock.

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

/// How long a CA lives.
const CA_LIFETIME: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How long a server's certificate lives.
const SERVER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Certificates are valid from this long before they are made, as clocks differ.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// How long a new CA has to be published before it signs what is served: far longer than API
/// servers need to notice, and than a replica can act on what it read before.
pub(super) const PUBLISH_GRACE: SignedDuration = SignedDuration::from_mins(10);
/// How long another replica may go on serving a certificate that was replaced: far longer than it
/// takes to notice.
const REPLACED_IS_SERVED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many CA certificates are kept; more than two only come of damage, again and again.
const MAX_CAS: usize = 8;
