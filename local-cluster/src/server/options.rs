//! Options of a server, and the bearer token.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use lbcf_serving::listener::Limits;
use lbcf_serving::secret;

use crate::error::Error;

/// The address, protection and limits of a server. Start from [`Default`] and change what matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The address to listen on (default 127.0.0.1); port 0 is a free one.
    pub listen: SocketAddr,
    /// Host names by which clients may call a loopback address without TLS, beside `localhost` and
    /// loopback addresses. A web page that calls by any other gets 403.
    pub allow_hosts: Vec<String>,
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
            allow_hosts: Vec::new(),
            tls: None,
            token: None,
            limits: Limits {
                // Below the 1024 files that systems allow a process.
                connections: 768,
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

/// The paths that Kubernetes serves without authentication: health and version.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// A bearer token. `Debug` and errors do not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(secret::Token);

impl Token {
    /// A token of visible ASCII characters, as an HTTP header carries them.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let token = secret::Token::new(text.into().as_bytes());
        token.map(Self).map_err(|why| Error::Token(why.to_owned()))
    }

    /// Reads a token from a file; white space around it is not part of it.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        Self::new(text.trim())
    }

    pub(super) fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn matches(&self, given: &str) -> bool {
        self.0.matches(given.as_bytes())
    }
}

/// As on a cluster, a wrong token is refused even on public paths.
pub(super) fn admits(token: &Token, path: &str, headers: &HeaderMap) -> bool {
    match bearer(headers) {
        Some(given) => token.matches(given),
        None => PUBLIC.contains(&path),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // Without a header, with unreadable bytes, and with another scheme the request is anonymous.
    let mut words = value.to_str().ok()?.trim().split(' ');
    let scheme = words.next()?;
    words
        .next()
        .filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn admitted(path: &str, authorization: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(
                AUTHORIZATION,
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        admits(&Token::new("right").unwrap(), path, &headers)
    }

    #[test]
    fn the_token_admits_to_everything_and_no_token_to_public_paths() {
        for path in ["/api", "/livez", "/"] {
            assert!(admitted(path, Some("Bearer right")), "{path}");
            assert!(admitted(path, Some("bearer right")), "{path}");
            for wrong in ["Bearer wrong", "Bearer righ", "Bearer rightly"] {
                assert!(!admitted(path, Some(wrong)), "{path} {wrong}");
            }
        }
        for anonymous in [
            None,
            Some(""),
            Some("Bearer"),
            Some("Bearer "),
            Some("Basic right"),
            Some("right"),
            Some("Bearer\u{a0}right"),
            Some("Bearer  right"),
        ] {
            for path in PUBLIC {
                assert!(admitted(path, anonymous), "{path} {anonymous:?}");
            }
            for path in [
                "/",
                "/api",
                "/livez/ping",
                "/version/x",
                "/healthz/..",
                "//livez",
                "/metrics",
                "/openapi/v2",
            ] {
                assert!(!admitted(path, anonymous), "{path} {anonymous:?}");
            }
        }
    }

    #[test]
    fn an_error_does_not_show_the_token() {
        for wrong in ["a b", "a\nb", "ä", &"x".repeat(4097)] {
            let error = Token::new(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with("the token cannot be used: it "),
                "{error}"
            );
            assert!(!error.contains(wrong), "{error}");
        }
    }
}
