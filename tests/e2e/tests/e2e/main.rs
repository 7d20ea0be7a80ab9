//! Whole-system tests: the controller on the local cluster, driving the mock driver.

// Tests and their helpers state what they expect by unwrapping.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod admission;
mod audit;
mod bind;
mod columns;
mod concurrently;
mod cost;
mod crd_rules;
mod draining;
mod driver_health;
mod dry_run;
mod editions;
mod endpoints;
mod examples;
mod exhaustive;
mod hostile_texts;
mod installation;
mod judge;
mod late_leader;
mod leader;
mod lifecycle;
mod metrics;
mod mock_faults;
mod namespaces;
mod one_call;
mod order;
mod original;
mod owned;
mod page;
mod periodic;
mod permissions;
mod readiness;
mod readiness_gate;
mod records;
mod remote;
mod replacement;
mod requests;
mod restore;
mod same_address;
mod scale;
mod scenario;
mod service_class;
mod services;
mod shared;
mod sizes;
mod start;
mod takeover;
mod tenants;
mod traffic;
mod waiting;
