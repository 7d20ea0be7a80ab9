//! Reports in each format: samples against golden files, and what readers of a format make of them.
//!
//! `UPDATE_GOLDEN=1 cargo test -p lbcf-conformance output` writes the files anew; look at the
//! difference. `formats/check.py` shows them to other projects' readers.

#![allow(clippy::unwrap_used)] // Clippy sees tests in `#[test]` functions only, not in their helpers.

mod formats;
mod golden;
mod samples;
mod schema;
