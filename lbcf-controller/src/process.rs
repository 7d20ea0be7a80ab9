//! Parts of any long-running process in a cluster: leader election, certificates, metrics, health,
//! clocks and locks.

pub(crate) mod announced;
mod api_server;
pub(crate) mod backoff;
pub(crate) mod driver_addresses;
pub(crate) mod health_state;
pub(crate) mod leader;
pub(crate) mod lock;
pub(crate) mod metrics;
mod networks;
pub(crate) mod options;
pub(crate) mod record_key;
pub(crate) mod serving;
pub(crate) mod text;
pub(crate) mod wall_clock;
