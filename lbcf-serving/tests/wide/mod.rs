//! Limits that no test reaches.

use lbcf_serving::listener::Limits;
use std::time::Duration;

pub(crate) const LONG: Duration = Duration::from_secs(3600);
/// Nothing in these tests takes longer, so what does is a failure.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) const WIDE: Limits = Limits {
    connections: 64,
    handshake: LONG,
    head: LONG,
    body: LONG,
    idle: LONG,
    stall: LONG,
    buffer: 64 << 10,
    lifetime: None,
    drain: None,
};
