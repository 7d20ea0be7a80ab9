//! Bodies in JSON, YAML and protobuf.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| local_cluster::fuzzing::body(data));
