//! What a peer may cost.

use std::time::Duration;

/// What connections may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many there may be.
    pub(super) connections: usize,
    /// How long a handshake may take.
    pub(super) handshake: Duration,
    /// How long the head of a request may take from its first byte on.
    pub(super) head: Duration,
    /// How long a connection may be without a request.
    pub(super) idle: Duration,
    /// How long a peer may take none of what is sent to it.
    pub(super) stall: Duration,
    /// How much of a request may wait in memory to be taken apart, in bytes.
    pub(super) buffer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            stall: Duration::from_secs(30),
            buffer: 64 << 10,
        }
    }
}

/// Times have to be added to the clock's, which has an end.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Limits {
    /// The same with times that can be waited for.
    pub(super) fn usable(self) -> Self {
        Self {
            handshake: self.handshake.min(LONGEST),
            head: self.head.min(LONGEST),
            idle: self.idle.min(LONGEST),
            stall: self.stall.min(LONGEST),
            ..self
        }
    }
}
