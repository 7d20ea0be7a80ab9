//! An LBCF driver for HAProxy, to copy from: see README.md for the way through the files.
//!
//! The driver's state is in two places, and nowhere else: the files in `conf.d`, one for each load
//! balancer, are what is wanted, and HAProxy is what is there. Each webhook changes the file first, and
//! HAProxy after it, so whichever of the two processes ends in between, the next call finishes the job.

#![allow(
    missing_docs,
    reason = "comments say what names do not: nobody links against an example"
)]

pub mod balancer;
mod drain;
mod driver;
pub mod fields;
pub mod haproxy;
pub mod plan;
mod reload;
mod upkeep;

pub use driver::HaproxyDriver;
