//! Options of the data plane.

use super::address::AddressMode;
use std::time::Duration;

/// Options of the data plane. Created from [`Default`], so that new options are no breaking change.
#[derive(Debug, Clone, Copy)]
pub struct TrafficOptions {
    /// The time that what is open on a deregistered backend may take; 5 s by default.
    pub drain_time: Duration,
    /// The time that a connection may be without a byte or a request; 15 minutes by default.
    pub idle_timeout: Duration,
    /// The largest number of connections of a listener; further ones wait, unless an idle one can close. 16,384 by default.
    pub max_connections: usize,
    /// The way in which load balancers get their addresses.
    pub addresses: AddressMode,
}

impl Default for TrafficOptions {
    fn default() -> Self {
        Self {
            drain_time: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(15 * 60),
            max_connections: 16 << 10,
            addresses: AddressMode::default(),
        }
    }
}
