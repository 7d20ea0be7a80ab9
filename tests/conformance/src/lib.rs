//! Tests an LBCF driver in any language against the specification, over its URL.
//!
//! Each of the 119 checks tests one rule of the specification: [`checks::all`] lists them, `lbcf
//! conformance explain ENS-02` explains one. The kit calls the driver as a controller does, verifies
//! its cloud with an [`observer`], deletes the resources it created, and writes a [`report`].
//!
//! In a Rust driver's own tests it takes three lines, over the router and without a port:
//!
//! ```
//! # async fn test(router: axum::Router) -> Result<(), lbcf_conformance::SuiteError> {
//! let suite = lbcf_conformance::Suite::of_router(router).fixture_file("conformance.yaml")?;
//! suite.run().await?.assert_passed();
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`check`], [`checks`] | the type of a check; all checks, each declared in one place |
//! | `lab` | the environment of a check: calls, its own load balancers and backends |
//! | [`transport`] | HTTP with limits, to a URL or to a router in this process |
//! | [`fixture`], `served` | the description of a driver; one that the driver serves |
//! | `selection` | which checks run, decided before the first call |
//! | `run` | the phases of a run, cleaning up, early ends |
//! | `ledger`, `record`, `numbers` | the created resources; all exchanges; the ports of `{{number}}` |
//! | [`report`], [`output`] | the results and their formats |
//! | [`command`], [`init`] | the command line |
//!
//! # Principles
//!
//! * The WIRE checks alone verify the form of responses (status code, spelling, types), over all
//!   responses of the run. The other checks tolerate wrong forms, so that one mistake fails one check.
//! * When the setup of a check fails, the check is skipped with the id of the check for that part of
//!   the setup, unless that one passed.
//! * Checks have their own load balancers and run concurrently. Checks that count load balancers,
//!   restart the driver or send bad input run alone, after the others. The report is in the order of
//!   the list, and the same for the same seed.
//! * Without an observer the kit verifies responses only, and the report marks such passes.
//!
//! The mock's defects (`mock-driver --list-defects`) test the kit: the checks that a defect names
//! find it, and no others.

mod call;
pub mod check;
pub mod checks;
mod classification;
pub mod command;
pub mod driver;
pub mod exchange;
mod executor;
mod files;
pub mod fixture;
pub mod init;
mod lab;
mod ledger;
pub mod numbers;
pub mod observer;
pub mod outcome;
pub mod output;
mod program;
pub mod progress;
mod record;
pub mod report;
mod run;
mod selection;
pub mod served;
pub mod settings;
mod suite;
mod sync;
pub mod transport;

/// The version of the webhook specification that the kit tests.
pub use lbcf_driver_sdk::webhook::SPECIFICATION;
pub use suite::{Suite, SuiteError};
