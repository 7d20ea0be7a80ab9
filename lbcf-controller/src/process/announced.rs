//! The addresses that a driver may announce in the status of Services: on every node kube-proxy takes the traffic to
//! them.

use crate::api::syntax::is_object_name;
use crate::process::networks::Networks;
use std::net::IpAddr;
use std::str::FromStr;

/// Networks and host names. By default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announced {
    networks: Networks,
    hosts: Vec<String>,
    /// `.example.com` for all below.
    domains: Vec<String>,
}

impl Announced {
    /// Any host name, and any address but those that are unspecified, loopback, link-local, multicast or broadcast.
    #[must_use]
    pub fn any() -> Self {
        Self {
            networks: Networks::any(),
            ..Self::default()
        }
    }

    /// True if a host name, or an address as text, may be announced.
    pub(crate) fn allow(&self, address: &str) -> bool {
        match address.parse::<IpAddr>() {
            Ok(ip) => self.networks.contain(ip, &[]),
            Err(_) => {
                let is_below = |domain: &String| address.ends_with(domain.as_str());
                self.networks.is_any()
                    || self.hosts.iter().any(|host| host == address)
                    || self.domains.iter().any(is_below)
            }
        }
    }
}

impl FromStr for Announced {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let mut announced = Self::default();
        for item in list.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let host = item.to_ascii_lowercase();
            let domain = host.strip_prefix("*.");
            let name = domain.unwrap_or(&host);
            let is_name = is_object_name(name) && name.contains(char::is_alphabetic);
            match announced.networks.add(item) {
                true => {}
                false if is_name && domain.is_some() => {
                    announced.domains.push(format!(".{name}"));
                }
                false if is_name => announced.hosts.push(host),
                false => {
                    return Err(format!(
                        "{item:?}: must be any, an address, a network such as 203.0.113.0/24, a host name, or *.example.com"
                    ));
                }
            }
        }
        Ok(announced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d100_what_may_be_announced() {
        let listed =
            "10.0.0.0/8, 127.0.0.0/8,2001:db8::/32,192.0.2.1,LB.example.com,*.cloud.example";
        for (list, allowed, refused) in [
            ("", "", "10.0.0.1 lb.example.com"),
            (
                "any",
                "10.0.0.1 203.0.113.1 2001:db8::1 fd00::1 lb.example.com",
                "127.0.0.1 ::1 0.0.0.0 :: 169.254.169.254 fe80::1 224.0.0.1 ff02::1 255.255.255.255 ::ffff:127.0.0.1 ::ffff:169.254.0.1",
            ),
            (
                listed,
                "10.0.0.1 127.0.0.1 ::ffff:10.0.0.1 2001:db8::1 192.0.2.1 lb.example.com a.cloud.example",
                "11.0.0.1 192.0.2.2 ::1 example.com cloud.example acloud.example a.lb.example.com",
            ),
            ("any,169.254.1.1", "10.0.0.1 169.254.1.1", "169.254.1.2"),
        ] {
            let announced: Announced = list.parse().unwrap();
            for (addresses, expected) in [(allowed, true), (refused, false)] {
                for address in addresses.split_whitespace() {
                    assert_eq!(announced.allow(address), expected, "{list}: {address}");
                }
            }
        }
        for wrong in [
            "10.0.0.0/33",
            "a b",
            "*",
            "*.",
            "*a.example",
            ".example",
            "10.0.0",
            "-",
        ] {
            let error = wrong.parse::<Announced>().unwrap_err();
            assert!(
                error.starts_with(&format!("{wrong:?}: must be any")),
                "{error}"
            );
        }
    }
}
