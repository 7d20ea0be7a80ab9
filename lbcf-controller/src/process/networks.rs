//! Lists of networks in flags.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr};

/// Networks, or any. By default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Networks {
    any: bool,
    listed: Vec<IpNet>,
}

impl Networks {
    /// Every address but those that are unspecified, loopback, link-local, multicast or broadcast.
    pub(crate) fn any() -> Self {
        Self {
            any: true,
            ..Self::default()
        }
    }

    pub(crate) const fn is_any(&self) -> bool {
        self.any
    }

    /// Adds `any`, an address or a network; returns false if it is none of these.
    pub(crate) fn add(&mut self, item: &str) -> bool {
        let address = item.parse::<IpAddr>().map(IpNet::from);
        match item.parse::<IpNet>().or(address) {
            Ok(network) => self.listed.push(network),
            Err(_) if item == "any" => self.any = true,
            Err(_) => return false,
        }
        true
    }

    /// True if an address is in one of the networks. `any` does not contain the exceptions.
    pub(crate) fn contain(&self, address: IpAddr, exceptions: &[IpAddr]) -> bool {
        let address = address.to_canonical();
        let real = embedded(address);
        self.listed.iter().any(|network| network.contains(&address))
            || (self.any && !is_special(real) && !exceptions.contains(&real))
    }
}

fn is_special(address: IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || address.is_unspecified() || address.is_loopback() || address.is_multicast()
}

/// The IPv4 address that a gateway or the kernel makes of an IPv6 one: of a compatible one, of NAT64's, of 6to4's.
fn embedded(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    match v6.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => address,
        [0, 0, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => {
            IpAddr::V4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
        }
        _ => address,
    }
}
