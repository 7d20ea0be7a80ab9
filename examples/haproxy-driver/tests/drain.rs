//! Draining.
