//! Paths, queries, selectors and continue tokens.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| local_cluster::fuzzing::selectors(data));
