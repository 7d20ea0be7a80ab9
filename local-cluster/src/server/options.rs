//! How the API is served.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::token::Token;

/// How the API is served. Start from [`Default`] and change what matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Where to listen; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// The certificate to show; without one the API is served over plain HTTP.
    pub tls: Option<Tls>,
    /// What clients have to show. Without one everybody may do everything; with one, only health
    /// and version are told to those who do not show it.
    pub token: Option<Token>,
    /// What a peer may cost.
    pub limits: ConnectionLimits,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: None,
            token: None,
            limits: ConnectionLimits::default(),
        }
    }
}

/// The certificate that a server shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// One made at the start, by an authority made for it. It is for `localhost`, loopback, the
    /// address listened on, `kubernetes` and the names of its service, and the names given here.
    SelfMade {
        /// Further names: DNS names or IP addresses.
        names: Vec<String>,
    },
    /// One from files, in PEM.
    Files {
        /// The certificate, and those between it and its authority.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
        /// The authority that clients shall trust; without it, the certificates themselves.
        authority: Option<PathBuf>,
    },
}

impl Tls {
    /// One made at the start.
    #[must_use]
    pub const fn self_made() -> Self {
        Self::SelfMade { names: Vec::new() }
    }
}

/// What peers may cost. The defaults suit demos and tests; every one of them is a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How many connections there may be. Where there are more, the one that has been idle the
    /// longest ends, or, if all are at work, the oldest.
    pub connections: usize,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long a connection may be without a request, or with half the head of one.
    pub head: Duration,
    /// How long a peer may take none of an answer.
    pub stall: Duration,
    /// How many bytes of large bodies may be in memory at a time, of all connections together.
    pub bodies: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            // Below the 1024 files that systems give a process.
            connections: 768,
            handshake: Duration::from_secs(10),
            // Clients let go of idle connections after 90 s. Whoever lets go first must not be the
            // server, as a request may be under way just then.
            head: Duration::from_secs(120),
            stall: Duration::from_secs(60),
            bodies: 256 * 1024 * 1024,
        }
    }
}
