//! The mock gone wrong on purpose, in one way at a time, so that what judges drivers can be judged
//! itself: each [`Defect`] is one mistake as authors of drivers make it, around a driver that is
//! right but for it.
//!
//! Defects act on what passes between the caller and the SDK's router, since the router protects
//! drivers from many of them. They know the cloud, and do the wrong thing there with its own
//! functions. What they do follows from the calls alone: no chance, and no clock but for those
//! that are about time.
//!
//! Calls that a defect answers by itself do not reach the driver, and so not the journal. In
//! [`Cloud::observe`](crate::Cloud::observe) identities are as the right driver hands them out; at
//! `/_mock/observe` they are as the caller got them.
//!
//! ```
//! use mock_driver::Defect;
//!
//! let defect: Defect = "string-delay".parse()?;
//! assert_eq!(defect.found_by(), ["WIRE-04"]);
//! assert!("string-dely".parse::<Defect>().unwrap_err().nearest().contains(&"string-delay"));
//! # Ok::<(), mock_driver::UnknownDefect>(())
//! ```

mod address;
mod answer;
mod bad_input;
mod call;
mod concurrency;
mod context;
mod create;
mod death;
mod deregister;
mod dry_run;
mod ensure_backend;
mod handed_out;
mod hold;
mod judge;
mod ledger;
mod load_balancer;
mod memory;
mod pace;
mod request;
mod retry;
mod running;
mod slow;
mod table;
mod told;
mod unknown;
mod validate_backend;
mod validate_load_balancer;
mod view;
mod wire;

pub(crate) use death::Death;
pub(crate) use handed_out::HandedOut;
pub use pace::DefectPace;
pub use unknown::UnknownDefect;

use crate::MockOptions;
use crate::cloud::Cloud;
use answer::Answer;
use axum::Router;
use call::Call;
use context::Context;
use std::fmt;
use std::sync::Arc;
use table::for_each_defect;

macro_rules! defects {
    ($($name:ident($id:literal, $about:literal, $($check:literal)+);)*) => {
        /// One way in which the mock misbehaves on purpose.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Defect {$(
            #[doc = concat!("`", $id, "`: ", $about, ".\n\nFound by", $(" ", $check,)+ ".")]
            $name,
        )*}

        impl Defect {
            /// All of them, by webhook.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// What the mock does wrong, in one line.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }

            /// The checks of the conformance kit that fail with it; no others do.
            #[must_use]
            pub const fn found_by(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($check),+],)*
                }
            }
        }
    };
}

for_each_defect!(defects);

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The webhooks of a driver that is right, with the options' defects around them. What a wrong
/// driver remembers is made here, and ends with the router.
pub(crate) fn around(
    right: Router,
    cloud: Cloud,
    options: &MockOptions,
    handed_out: HandedOut,
    death: Death,
) -> Router {
    if options.defects.is_empty() {
        return right;
    }
    for defect in &options.defects {
        tracing::warn!(%defect, about = defect.about(), "the mock driver is wrong on purpose");
    }
    let context = Arc::new(Context::new(right, cloud, options, handed_out, death));
    Router::new().fallback(context::serve).with_state(context)
}

/// What a defect does when a call comes: it may change the call, or answer in the driver's place.
fn before(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    request::before(defect, call)
        .or_else(|| bad_input::before(defect, at, call))
        .or_else(|| dry_run::before(defect, at, call))
        .or_else(|| retry::before(defect, at, call))
        .or_else(|| validate_load_balancer::before(defect, at, call))
        .or_else(|| create::before(defect, at, call))
        .or_else(|| running::before(defect, at, call))
        .or_else(|| load_balancer::before(defect, at, call))
        .or_else(|| validate_backend::before(defect, at, call))
        .or_else(|| address::before(defect, call))
        .or_else(|| ensure_backend::before(defect, at, call))
        .or_else(|| deregister::before(defect, at, call))
        .or_else(|| judge::before(defect, call))
        .or_else(|| {
            concurrency::before(defect, at, call);
            None
        })
}

/// What a defect does when the driver has answered: it may change the cloud, and the answer.
fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    concurrency::after(defect, at, call, answer);
    validate_load_balancer::after(defect, at, call, answer);
    create::after(defect, at, call, answer);
    running::after(defect, at, call, answer);
    load_balancer::after(defect, at, call, answer);
    validate_backend::after(defect, at, call, answer);
    address::after(defect, at, call, answer);
    ensure_backend::after(defect, at, call, answer);
    deregister::after(defect, at, call, answer);
    judge::after(defect, call, answer);
    retry::after(defect, at, call, answer);
    dry_run::after(defect, at, call, answer);
    bad_input::after(defect, at, call, answer);
    wire::after(defect, at, call, answer);
}

#[cfg(test)]
mod tests;
