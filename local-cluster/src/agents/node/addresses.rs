//! The addresses of pods.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::Ipv4Addr;

/// Pods get addresses from here on.
const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 2);
const IP_COUNT: u32 = 65_000;

/// Which pod, by uid, has which address.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pods: HashMap<Ipv4Addr, String>,
    addresses: HashMap<String, Ipv4Addr>,
    next: u32,
}

impl Addresses {
    /// Learns that a pod has an address.
    pub(super) fn see(&mut self, uid: &str, address: Ipv4Addr) {
        if self.addresses.get(uid) == Some(&address) {
            return;
        }
        self.forget(uid);
        self.pods.insert(address, uid.to_owned());
        self.addresses.insert(uid.to_owned(), address);
    }

    /// Frees the address of a pod that is gone.
    pub(super) fn forget(&mut self, uid: &str) {
        if let Some(address) = self.addresses.remove(uid)
            && self.pods.get(&address).is_some_and(|owner| owner == uid)
        {
            self.pods.remove(&address);
        }
    }

    /// The next address in turn that no pod has, so that one is not soon used again.
    pub(super) fn choose(&mut self, uid: &str) -> Option<Ipv4Addr> {
        for _ in 0..IP_COUNT {
            let address = Ipv4Addr::from(u32::from(FIRST_IP) + self.next);
            self.next = (self.next + 1) % IP_COUNT;
            if let Entry::Vacant(free) = self.pods.entry(address) {
                free.insert(uid.to_owned());
                self.addresses.insert(uid.to_owned(), address);
                return Some(address);
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
        let mut addresses = Addresses::default();
        let first = addresses.choose("a").unwrap();
        let second = addresses.choose("b").unwrap();
        assert_eq!([first, second], [FIRST_IP, Ipv4Addr::new(10, 244, 0, 3)]);
        addresses.see("c", Ipv4Addr::new(10, 244, 0, 4));
        assert_eq!(addresses.choose("d"), Some(Ipv4Addr::new(10, 244, 0, 5)));
        addresses.forget("a");
        addresses.forget("unknown");
        // Not at once: whoever still talks to the old pod shall not meet a new one.
        assert_eq!(addresses.choose("e"), Some(Ipv4Addr::new(10, 244, 0, 6)));
        addresses.next = 0;
        assert_eq!(addresses.choose("f"), Some(first));
    }
}
