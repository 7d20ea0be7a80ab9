//! The mock driver with defects on purpose, one at a time or several, so that whatever judges
//! drivers can be judged itself: each [`Defect`] is one mistake that authors of drivers make, around
//! a driver that is right but for it.
//!
//! [`Defects`] is a [`Middleware`](mock_driver::Middleware) of the mock. It acts between the caller
//! and the SDK's router, because the router would protect the driver from many of the mistakes, and
//! changes the cloud through the cloud's own functions. The effects follow from the requests alone:
//! nothing is random, and only the defects that are about time use a clock.
//!
//! Requests to which a defect responds do not reach the driver, so the journal does not contain them.
//! [`Cloud::observe`](mock_driver::Cloud::observe) shows what the right driver would have done;
//! `/_mock/observe` shows what callers of the defective one have to see.
//!
//! ```
//! use lbcf_defective_driver::{Defect, Defects};
//! use mock_driver::{ClbDriver, Cloud, MockOptions};
//!
//! let defect: Defect = "string-delay".parse()?;
//! assert_eq!(defect.found_by(), ["WIRE-04"]);
//! assert!("string-dely".parse::<Defect>().unwrap_err().nearest().contains(&"string-delay"));
//!
//! let driver = ClbDriver::new(Cloud::with_samples(), MockOptions::default());
//! let router = mock_driver::router_with(driver, Defects::new([defect]));
//! # let _: axum::Router = router;
//! # Ok::<(), lbcf_defective_driver::UnknownDefect>(())
//! ```

mod address;
pub mod cli;
mod cloud_lookup;
mod concurrency;
mod create;
mod defect;
mod defects;
mod deregister;
mod dispatch;
mod driver;
mod dry_run;
mod ensure_backend;
mod history;
mod hook_request;
mod judge;
mod last_reply;
mod latency;
mod list;
mod load_balancer;
mod malformed;
mod memory;
mod overlay;
mod reply;
mod reply_form;
mod request_form;
mod retry;
mod running;
mod serving;
mod two_step;
mod unknown_defect;
mod validate_backend;
mod validate_load_balancer;

pub use defect::Defect;
pub use defects::Defects;
pub use unknown_defect::UnknownDefect;

#[cfg(test)]
mod tests;
