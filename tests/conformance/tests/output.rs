//! Reports in each format, compared with golden files and read back.
//!
//! `UPDATE_GOLDEN=1 cargo test -p lbcf-conformance output` updates the files; review the
//! difference. `formats/check.py` reads them with the parsers of other projects.

#![allow(clippy::unwrap_used)] // Clippy sees tests in `#[test]` functions only, not in their helpers.

mod formats;
mod golden;
mod samples;
mod schema;
