//! The addresses at which drivers may be called. A user that writes the URL of a driver makes the controller send
//! requests to it, from inside of the cluster's network.

use crate::process::networks::Networks;
use std::net::IpAddr;
use std::str::FromStr;

/// Networks for each scheme of URLs. By default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriverAddresses {
    http: Networks,
    https: Networks,
}

impl DriverAddresses {
    /// Every address but those that are unspecified, loopback, link-local, multicast or the API server's.
    #[must_use]
    pub fn any() -> Self {
        Self {
            http: Networks::any(),
            https: Networks::any(),
        }
    }

    /// Every address, also those of this machine.
    #[must_use]
    pub fn everything() -> Self {
        EVERYTHING.parse().unwrap_or_default()
    }

    /// True if a driver may be called at this address by this scheme; the addresses of the API server only if they are listed.
    #[must_use]
    pub fn allow(&self, scheme: &str, address: IpAddr, api_server: &[IpAddr]) -> bool {
        let networks = match scheme {
            "https" => &self.https,
            _ => &self.http,
        };
        networks.contain(address, api_server)
    }
}

/// The list of all addresses.
pub(crate) const EVERYTHING: &str = "0.0.0.0/0,::/0";

impl FromStr for DriverAddresses {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let mut addresses = Self::default();
        for item in list.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let is_valid = match item.split_once("://") {
                None => addresses.http.add(item) && addresses.https.add(item),
                Some(("http", item)) => addresses.http.add(item),
                Some(("https", item)) => addresses.https.add(item),
                Some(_) => false,
            };
            if !is_valid {
                return Err(format!(
                    "{item:?}: must be any, an address, or a network such as 203.0.113.0/24, which https:// or http:// may precede"
                ));
            }
        }
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests;
