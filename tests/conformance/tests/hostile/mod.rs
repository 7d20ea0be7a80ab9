//! Hostile drivers: whatever they do, the run ends in bounded time with a clear result, and never
//! with exit code 0.

#![allow(clippy::unwrap_used, clippy::panic)] // Clippy sees tests in `#[test]` functions only, not in their helpers.

mod bytes;
mod dying;
mod judged;
mod server;
mod silent;
mod wrong;
