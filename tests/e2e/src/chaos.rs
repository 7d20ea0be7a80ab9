//! Random histories: what users do, what fails meanwhile, and then quiet, in which the cloud has to
//! become what is declared.
//!
//! A [`History`] follows from its seed. [`run`] performs it in a [`World`](crate::World) of its own; afterwards
//! the model says what the cloud has to hold. A history that fails is reduced
//! to the shortest one that still does ([`shrink`]) and printed as a script of kubectl commands.

mod controllers;
mod history;
mod invariants;
mod kind;
mod model;
mod objects;
mod perform;
mod records;
mod run;
mod script;
mod shrink;
mod step;
mod waiting;

pub use history::History;
pub use run::{Finding, run};
pub use shrink::shrink;
