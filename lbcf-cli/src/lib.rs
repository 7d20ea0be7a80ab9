//! The `lbcf` command: LBCF's demo, controller, mock driver and local cluster in one binary.
//!
//! Each subcommand calls the library that implements it; only the [`demo`], `dev` and the [`plan`] are
//! implemented here, as they need all of them. Results go to stdout, logs to stderr, and every flag has an environment
//! variable.
//!
//! A program can run the demo, too:
//!
//! ```no_run
//! use lbcf_cli::demo::{DemoArgs, Output, run};
//!
//! # async fn example() -> Result<(), lbcf_cli::demo::DemoError> {
//! let args = DemoArgs { once: true, output: Output::Json, ..DemoArgs::default() };
//! let report = run(args).await?;
//! assert!(report.passed);
//! # Ok(())
//! # }
//! ```

mod command;
mod completion;
mod convert;
pub mod demo;
mod dev;
pub mod diff;
mod drivers;
mod inspect;
mod install;
mod local_cluster;
mod local_server;
mod local_stack;
mod manifests;
mod mock_driver;
mod new;
pub mod plan;
mod shell;
mod waiting;
pub mod watched_cluster;
mod webhooks;

pub use command::{command, main};
pub use drivers::Drivers;
