//! Allocates the IP addresses of pods.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::Ipv4Addr;

/// The first address of pods that serve nothing.
pub(super) const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 2);
const IP_COUNT: u32 = 65_000;

/// Which pod, by uid, has which address.
#[derive(Debug)]
pub(super) struct PodIps {
    first: Ipv4Addr,
    pods: HashMap<Ipv4Addr, String>,
    ips: HashMap<String, Ipv4Addr>,
    next: u32,
}

impl PodIps {
    pub(super) fn new(first: Ipv4Addr) -> Self {
        Self {
            first,
            pods: HashMap::new(),
            ips: HashMap::new(),
            next: 0,
        }
    }

    /// None of them is in use.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.first);
    }

    pub(super) fn insert(&mut self, uid: &str, ip: Ipv4Addr) {
        if self.ips.get(uid) == Some(&ip) {
            return;
        }
        self.release(uid);
        self.pods.insert(ip, uid.to_owned());
        self.ips.insert(uid.to_owned(), ip);
    }

    pub(super) fn release(&mut self, uid: &str) {
        if let Some(ip) = self.ips.remove(uid)
            && self.pods.get(&ip).is_some_and(|owner| owner == uid)
        {
            self.pods.remove(&ip);
        }
    }

    /// Allocates the addresses in turn, so that a released one is not soon used again.
    pub(super) fn allocate(&mut self, uid: &str) -> Option<Ipv4Addr> {
        for _ in 0..IP_COUNT {
            let ip = Ipv4Addr::from(u32::from(self.first) + self.next);
            self.next = (self.next + 1) % IP_COUNT;
            if let Entry::Vacant(free) = self.pods.entry(ip) {
                free.insert(uid.to_owned());
                self.ips.insert(uid.to_owned(), ip);
                return Some(ip);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_pods_share_an_address() {
        let mut ips = PodIps::new(FIRST_IP);
        let first = ips.allocate("a").unwrap();
        let second = ips.allocate("b").unwrap();
        assert_eq!([first, second], [FIRST_IP, Ipv4Addr::new(10, 244, 0, 3)]);
        ips.insert("c", Ipv4Addr::new(10, 244, 0, 4));
        assert_eq!(ips.allocate("d"), Some(Ipv4Addr::new(10, 244, 0, 5)));
        ips.release("a");
        ips.release("unknown");
        // Not at once: a client may still send to the old pod.
        assert_eq!(ips.allocate("e"), Some(Ipv4Addr::new(10, 244, 0, 6)));
        ips.next = 0;
        assert_eq!(ips.allocate("f"), Some(first));
    }
}
