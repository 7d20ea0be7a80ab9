//! The slim LBCF controller: it watches a cluster and tells drivers what to do.

pub mod api;
mod backend_group;
mod backend_record;
pub mod cli;
mod cluster;
mod context;
mod controller;
mod drivers;
pub mod go_duration;
mod index;
mod key;
mod load_balancer;
mod load_balancer_driver;
pub mod names;
mod options;
mod outcome;
mod queue;
mod work;

pub use controller::Controller;
pub use drivers::CallCounts;
pub use key::ObjectKey;
pub use options::Options;
pub use queue::Backoff;
