//! Addresses to listen on, which may be switched off, and that of the health server.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// `off`: the server is not started.
    Off,
    /// The address of the server.
    At(SocketAddr),
}

/// The text is neither an address with a port nor `off`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: not an address with a port, such as 127.0.0.1:8080 or [::]:8080, nor off")]
pub struct NoAddress(String);

impl Listen {
    /// The address, unless it is `off`.
    #[must_use]
    pub const fn addr(self) -> Option<SocketAddr> {
        match self {
            Self::Off => None,
            Self::At(addr) => Some(addr),
        }
    }
}

impl FromStr for Listen {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() || text.eq_ignore_ascii_case("off") {
            return Ok(Self::Off);
        }
        let wrong = |_| NoAddress(text.to_owned());
        // As in Go, a port alone is one on every address.
        match text.strip_prefix(':').map(str::parse) {
            Some(Ok(port)) => Ok(Self::At(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))),
            _ => text.parse().map(Self::At).map_err(wrong),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::At(addr) => addr.fmt(f),
        }
    }
}

/// Flags of the health server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Health and metrics", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct HealthArgs {
    /// Address at which to serve /healthz, /readyz and /metrics over plain HTTP, or off; port 0
    /// selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:11029")]
    pub health_address: Listen,

    /// Host name by which clients may call that address if it is a loopback address, beside localhost and
    /// loopback addresses; a web page that calls by any other gets 403
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allow_host: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_displayed() {
        for (text, told) in [
            ("127.0.0.1:11029", "127.0.0.1:11029"),
            ("[::1]:0", "[::1]:0"),
            (":443", "0.0.0.0:443"),
            ("off", "off"),
            ("", "off"),
        ] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), told);
        }
    }

    #[test]
    fn other_texts_are_quoted_in_the_error() {
        for text in ["nowhere", "localhost:80", "127.0.0.1", ":", ":65536", "80"] {
            let error = text.parse::<Listen>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?}: ")), "{error}");
        }
    }
}
