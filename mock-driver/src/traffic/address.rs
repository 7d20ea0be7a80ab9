//! Where a listener listens on this machine.
//!
//! Each load balancer has an address of its own in 127.0.0.0/8. Where only 127.0.0.1 can be bound, as
//! on macOS without aliases, all of them share it, and ports that collide are replaced by free ones.
//! Ports below 1024 belong to the superuser on most systems, so [`PORT_OFFSET`] is added to them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The offset of ports below 1024.
pub const PORT_OFFSET: u16 = 8000;

const FIRST_UNPRIVILEGED: u16 = 1024;
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 100, 0, 1);
const ADDRESSES: u32 = 65_000;
/// The number of addresses that are tried for a load balancer: another mock may run on this machine.
const TRIES: usize = 64;

/// The way in which load balancers get their addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// One for each if 127.0.0.2 can be bound, else the shared one.
    #[default]
    Detect,
    /// 127.0.0.1 for all.
    Shared,
}

/// The addresses that load balancers have.
#[derive(Debug)]
pub(super) struct Addresses {
    is_shared: bool,
    next: u32,
    of: BTreeMap<String, Ipv4Addr>,
}

impl Addresses {
    pub(super) fn new(mode: AddressMode) -> Self {
        let own = || std::net::UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_ok();
        Self {
            is_shared: mode == AddressMode::Shared || !own(),
            next: 0,
            of: BTreeMap::new(),
        }
    }

    pub(super) const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The addresses to try for a listener of a load balancer, best first.
    pub(super) fn candidates(&self, load_balancer: &str, port: u16) -> Vec<SocketAddr> {
        let port = listen_port(port);
        let with_any_port = |ip: Ipv4Addr| vec![(ip, port).into(), (ip, 0).into()];
        if self.is_shared {
            return with_any_port(Ipv4Addr::LOCALHOST);
        }
        match self.of.get(load_balancer) {
            Some(ip) => with_any_port(*ip),
            None => {
                let taken: Vec<_> = self.of.values().collect();
                let addresses = (0..ADDRESSES)
                    .map(|at| nth(self.next + at))
                    .filter(|ip| !taken.contains(&ip));
                let addresses = addresses.map(|ip| (ip, port).into());
                addresses.take(TRIES).collect()
            }
        }
    }

    /// Remembers that a listener of the load balancer is bound to this address.
    pub(super) fn bound(&mut self, load_balancer: &str, addr: SocketAddr) {
        if let IpAddr::V4(ip) = addr.ip()
            && !self.is_shared
            && self.of.insert(load_balancer.to_owned(), ip).is_none()
        {
            let at = u32::from(ip).saturating_sub(u32::from(FIRST_ADDRESS));
            self.next = (at + 1) % ADDRESSES;
        }
    }

    /// Forgets load balancers that do not exist any more. Their addresses are not used again soon.
    pub(super) fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.of.retain(|load_balancer, _| exists(load_balancer));
    }

    pub(super) fn get(&self, load_balancer: &str) -> Option<Ipv4Addr> {
        if self.is_shared {
            return Some(Ipv4Addr::LOCALHOST);
        }
        self.of.get(load_balancer).copied()
    }
}

fn nth(at: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(FIRST_ADDRESS) + at % ADDRESSES)
}

/// The port that is listened on for this one.
const fn listen_port(port: u16) -> u16 {
    if port < FIRST_UNPRIVILEGED {
        port + PORT_OFFSET
    } else {
        port
    }
}

/// The addresses at which a backend may be: on this machine, a server without privileges has the
/// offset, too.
pub(super) fn backend_candidates(addr: SocketAddr) -> impl Iterator<Item = SocketAddr> {
    let is_offset = addr.ip().is_loopback() && addr.port() < FIRST_UNPRIVILEGED;
    let offset = is_offset.then(|| SocketAddr::new(addr.ip(), listen_port(addr.port())));
    std::iter::once(addr).chain(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Addresses {
        Addresses {
            is_shared: false,
            next: 0,
            of: BTreeMap::new(),
        }
    }

    fn shown(addresses: Vec<SocketAddr>) -> Vec<String> {
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_load_balancer_has_an_address_of_its_own() {
        let mut addresses = own();
        let first = addresses.candidates("lb-1", 80);
        assert_eq!(first.len(), TRIES);
        assert_eq!(shown(first)[..2], ["127.100.0.1:8080", "127.100.0.2:8080"]);
        addresses.bound("lb-1", "127.100.0.1:8080".parse().unwrap());
        assert_eq!(
            shown(addresses.candidates("lb-2", 5000))[0],
            "127.100.0.2:5000"
        );
        let again = shown(addresses.candidates("lb-1", 443));
        assert_eq!(again, ["127.100.0.1:8443", "127.100.0.1:0"]);
        assert_eq!(addresses.get("lb-1"), Some(Ipv4Addr::new(127, 100, 0, 1)));
    }

    #[test]
    fn a_released_address_is_not_used_again_soon_and_one_in_use_never() {
        let mut addresses = own();
        addresses.bound("lb-1", "127.100.0.1:80".parse().unwrap());
        addresses.bound("lb-2", "127.100.0.2:80".parse().unwrap());
        addresses.retain(|load_balancer| load_balancer == "lb-2");
        assert_eq!(
            shown(addresses.candidates("lb-3", 80))[0],
            "127.100.0.3:8080"
        );
        addresses.next = 0;
        let next = shown(addresses.candidates("lb-3", 80));
        assert_eq!(next[..2], ["127.100.0.1:8080", "127.100.0.3:8080"]);
    }

    #[test]
    fn a_shared_address_has_free_ports_instead() {
        let addresses = Addresses {
            is_shared: true,
            ..own()
        };
        let candidates = shown(addresses.candidates("lb-1", 80));
        assert_eq!(candidates, ["127.0.0.1:8080", "127.0.0.1:0"]);
    }

    #[test]
    fn a_backend_on_this_machine_may_have_the_offset() {
        let candidates = |addr: &str| shown(backend_candidates(addr.parse().unwrap()).collect());
        assert_eq!(
            candidates("127.1.0.1:80"),
            ["127.1.0.1:80", "127.1.0.1:8080"]
        );
        assert_eq!(candidates("127.1.0.1:8080"), ["127.1.0.1:8080"]);
        assert_eq!(candidates("10.0.0.1:80"), ["10.0.0.1:80"]);
    }
}
