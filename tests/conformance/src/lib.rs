//! Judges any LBCF driver, in any language, by its URL.
//!
//! 109 checks, each one rule of the specification: [`checks::all`] lists them, `lbcf conformance
//! explain ENS-02` tells all about one. The kit calls the driver as a controller does, looks into
//! its cloud where an [`observer`] lets it, takes away what it made, and writes a [`report`].
//!
//! In a Rust driver's own tests it takes three lines, over the router and without a port:
//!
//! ```
//! # async fn judge(router: axum::Router) -> Result<(), lbcf_conformance::SuiteError> {
//! let suite = lbcf_conformance::Suite::of_router(router).fixture_file("conformance.yaml")?;
//! suite.run().await?.assert_passed();
//! # Ok(())
//! # }
//! ```
//!
//! # How it is built
//!
//! | module | what it is for |
//! |---|---|
//! | [`check`], [`checks`] | what a check is; the checks, each declared and written in one place |
//! | `lab` | what a check works with: calls, load balancers and backends of its own |
//! | [`transport`] | HTTP byte by byte, to a URL or to a router in process, within limits |
//! | [`fixture`] | what is to be known of a driver |
//! | `selection` | which checks are made and why others are not: decided before anything is called |
//! | `run` | in which order, side by side or alone; cleaning up; when to give up |
//! | `ledger`, `record` | what was made; what was asked and answered |
//! | [`report`], [`output`] | what a run came to, and the formats of it |
//! | [`command`], [`init`] | the command line |
//!
//! # How it judges
//!
//! * The form of answers (status code, spelling, types) is judged by the WIRE checks alone, over
//!   all answers of the run; the other checks read past it, so that one mistake is told once.
//! * What a check merely starts from and cannot have is another check's failure: it is skipped with
//!   that check's id, unless that one passed.
//! * Checks have load balancers of their own and run side by side; those that count load balancers,
//!   restart the driver or send it nonsense run alone, after the others. What is reported is in the
//!   order of the list, and the same for the same seed.
//! * Without an observer the answers are judged, and the report says which passes show no more than
//!   that.
//!
//! The mock's defects (`mock-driver --list-defects`) are the kit's own test: each is found by
//! the checks that it names and by no others.

pub mod check;
pub mod checks;
pub mod command;
pub mod driver;
pub mod exchange;
pub mod fixture;
pub mod init;
mod lab;
mod ledger;
pub mod observer;
pub mod output;
pub mod progress;
mod record;
pub mod report;
mod run;
mod selection;
pub mod settings;
mod suite;
pub mod transport;
pub mod verdict;

pub use suite::{Suite, SuiteError};

/// The edition of the webhook specification that drivers are judged by.
pub const SPECIFICATION: &str = "v1beta1";
