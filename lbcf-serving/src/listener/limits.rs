use std::time::Duration;

/// More than any wait takes, and little enough to be added to any clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// The most that the clients of a listener may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of connections, at least 1 (default 512, of the 1024 files that systems allow a
    /// process). For a further one, one that waits for its client gives way: of the address that has
    /// most of these, the oldest. A request counts as waiting when it has done so for a second. Where
    /// none waits, the oldest closes when its request is answered.
    pub connections: usize,
    /// The limit of a TLS handshake (default 10 s).
    pub handshake: Duration,
    /// The time that the head of a request may take from its first byte on (default 10 s).
    pub head: Duration,
    /// The time that the body of a request may take (default 120 s).
    pub body: Duration,
    /// The time that a connection may be without a request (default 120 s). Clients such as Go's close
    /// idle connections after 90 s. They should be first, as a request may be on its way when the
    /// server closes.
    pub idle: Duration,
    /// The time in which a client may take none of the bytes of a response (default 30 s).
    pub stall: Duration,
    /// The number of bytes of a request's head that are kept in memory (default 32 KiB).
    pub buffer: usize,
    /// After which time a connection is closed (default: none). From half of it on, responses have
    /// `Connection: close`, so that few connections are closed while a request is on its way.
    pub lifetime: Option<Duration>,
    /// The time that a connection which is to close may take to finish its request (default: as long as it
    /// takes).
    pub drain: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            body: Duration::from_secs(120),
            idle: Duration::from_secs(120),
            stall: Duration::from_secs(30),
            buffer: 32 << 10,
            lifetime: None,
            drain: None,
        }
    }
}

impl Limits {
    /// The same with times that can be added to the clock.
    pub(super) fn usable(self) -> Self {
        Self {
            handshake: self.handshake.min(LONGEST),
            head: self.head.min(LONGEST),
            body: self.body.min(LONGEST),
            idle: self.idle.min(LONGEST),
            stall: self.stall.min(LONGEST),
            ..self
        }
    }
}
