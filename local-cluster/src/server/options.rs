//! Options of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use lbcf_serving::listener::{Limits, WhenFull};

use super::token::Token;

/// The address, protection and limits of a server. Start from [`Default`] and change what matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The address to listen on (default 127.0.0.1); port 0 is a free one.
    pub listen: SocketAddr,
    /// The certificate; without one the API is served over plain HTTP.
    pub tls: Option<Tls>,
    /// The bearer token that clients must send. Without one every client may do everything; with one,
    /// clients that do not send it may read health and version only.
    pub token: Option<Token>,
    /// The limits of connections. By default a further one than 768 closes the oldest idle one.
    pub limits: Limits,
    /// The number of bytes of large bodies in memory at a time, of all connections together (default
    /// 256 MiB).
    pub body_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: None,
            token: None,
            limits: Limits {
                // Below the 1024 files that systems allow a process.
                connections: 768,
                when_full: WhenFull::CloseOldest,
                head: Duration::from_secs(120),
                stall: Duration::from_secs(60),
                // A URL can have 64 KiB, as selectors are part of it.
                buffer: 128 << 10,
                drain: Some(Duration::from_secs(2)),
                ..Limits::default()
            },
            body_bytes: 256 << 20,
        }
    }
}

/// The certificate that the server presents to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// One that is signed at the start, by a CA of its own. It is for `localhost`, loopback, the
    /// address listened on, `kubernetes` and the names of its service, and the names given here.
    SelfSignedCa {
        /// Further names: DNS names or IP addresses.
        names: Vec<String>,
    },
    /// One from PEM files.
    Files {
        /// The certificate, and those between it and its CA.
        certificate: PathBuf,
        /// The private key of the first certificate.
        key: PathBuf,
        /// The CA that clients trust; without it, the certificates themselves.
        authority: Option<PathBuf>,
    },
}

impl Tls {
    /// A certificate that is signed at the start, for the usual names.
    #[must_use]
    pub const fn self_signed_ca() -> Self {
        Self::SelfSignedCa { names: Vec::new() }
    }
}
