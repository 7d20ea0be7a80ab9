//! Records by uid, and the addresses that records left lately: what the backends of a load balancer
//! are compared with that no record accounts for (d53).

use super::address::{Address, AddressHasher, AddressKey};
use super::store::Diff;
use crate::api::{BackendRecord, ObjectKey};
use std::collections::{HashMap, HashSet, VecDeque};
use uuid::Uuid;

/// Bounds the memory for departures to less than a megabyte.
const REMEMBERED: usize = 10_000;

/// A position in the sequence of departures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DepartureMark(u64);

/// A record was removed, or has another address since.
#[derive(Debug)]
struct Departure {
    uid: Uuid,
    /// The hash of the address, if it had one.
    address: Option<u64>,
}

/// The present records by uid, and the last departures.
#[derive(Debug, Default)]
pub(crate) struct RecordUids {
    present: HashMap<Uuid, ObjectKey>,
    departures: VecDeque<Departure>,
    /// All departures since the start, including those that are no longer remembered.
    count: u64,
    /// By uid: the position of its last departure that is remembered.
    departed: HashMap<Uuid, u64>,
    hasher: AddressHasher,
}

impl RecordUids {
    pub(super) fn update(&mut self, key: &ObjectKey, diff: &Diff<BackendRecord>) {
        if let Some(old) = &diff.old
            && let Some(uid) = uid_of(old)
        {
            let new = diff.new.as_deref();
            let is_removed = new.is_none_or(|new| uid_of(new) != Some(uid));
            if is_removed {
                self.present.remove(&uid);
            }
            if is_removed || new.map(place_of) != Some(place_of(old)) {
                self.depart(uid, Address::of(old));
            }
        }
        if let Some(uid) = diff.new.as_deref().and_then(uid_of) {
            self.present.insert(uid, key.clone());
        }
    }

    fn depart(&mut self, uid: Uuid, address: Option<Address<'_>>) {
        let address = address.map(|address| self.hasher.hash(address));
        self.departed.insert(uid, self.count);
        self.departures.push_back(Departure { uid, address });
        self.count += 1;
        if self.departures.len() > REMEMBERED
            && let Some(forgotten) = self.departures.pop_front()
            && self.departed.get(&forgotten.uid) == Some(&self.first())
        {
            self.departed.remove(&forgotten.uid);
        }
    }

    /// The position of the departure that was forgotten last or, before any was, of none.
    fn first(&self) -> u64 {
        let remembered = self.departures.len() as u64;
        self.count.saturating_sub(remembered + 1)
    }

    /// The key of the record with a uid, if it exists.
    pub(crate) fn present(&self, uid: Uuid) -> Option<&ObjectKey> {
        self.present.get(&uid)
    }

    /// Returns true if this process knew a record with this uid that no longer exists. Only the last
    /// 10,000 departures are remembered, so false proves nothing.
    pub(crate) fn has_departed(&self, uid: Uuid) -> bool {
        self.departed.contains_key(&uid)
    }

    pub(crate) const fn mark(&self) -> DepartureMark {
        DepartureMark(self.count)
    }

    /// The addresses that records left since the mark; none if there were more than are remembered.
    pub(crate) fn left_since(&self, mark: DepartureMark) -> Option<LeftAddresses> {
        let count = usize::try_from(self.count.saturating_sub(mark.0)).unwrap_or(usize::MAX);
        let forgotten = self.departures.len().checked_sub(count)?;
        let since = self.departures.iter().skip(forgotten);
        Some(LeftAddresses {
            hashes: since.filter_map(|departure| departure.address).collect(),
            hasher: self.hasher.clone(),
        })
    }
}

/// A set of addresses, by their hashes. An address that is not in it is reported to be with a
/// probability that is negligible.
#[derive(Debug)]
pub(crate) struct LeftAddresses {
    hashes: HashSet<u64>,
    hasher: AddressHasher,
}

impl LeftAddresses {
    pub(crate) fn contains(&self, address: &AddressKey) -> bool {
        self.hashes.contains(&self.hasher.hash(address.as_ref()))
    }
}

/// None if the API server gave it no UUID, which Kubernetes' always does.
fn uid_of(record: &BackendRecord) -> Option<Uuid> {
    Uuid::parse_str(record.metadata.uid.as_deref()?).ok()
}

/// The parts of an address, besides the namespace, without a copy.
fn place_of(record: &BackendRecord) -> impl PartialEq + use<'_> {
    let status = record.status.as_ref();
    let addr = status.map(|status| status.backend_addr.as_str());
    let spec = &record.spec;
    (
        &spec.lb_driver,
        &spec.lb_info,
        addr.filter(|addr| !addr.is_empty()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::BackendRecordStatus;
    use std::sync::Arc;

    const UID: &str = "08e36678-82c8-11e9-b9e7-525400854cbb";

    fn record(uid: &str, addr: &str) -> Option<Arc<BackendRecord>> {
        let mut record = BackendRecord {
            status: Some(BackendRecordStatus {
                backend_addr: addr.into(),
                ..BackendRecordStatus::default()
            }),
            ..BackendRecord::default()
        };
        record.metadata.uid = Some(uid.into());
        Some(Arc::new(record))
    }

    fn address(addr: &str) -> AddressKey {
        AddressKey::of(&record(UID, addr).unwrap()).unwrap()
    }

    fn uid(number: u128) -> (Uuid, String) {
        let uid = Uuid::from_u128(number);
        (uid, uid.to_string())
    }

    fn change(
        uids: &mut RecordUids,
        old: Option<Arc<BackendRecord>>,
        new: Option<Arc<BackendRecord>>,
    ) {
        uids.update(&ObjectKey::new("ns", "r"), &Diff { old, new });
    }

    #[test]
    fn d53_a_record_is_present_until_it_is_removed_and_then_remembered() {
        let (mut uids, id) = (RecordUids::default(), Uuid::parse_str(UID).unwrap());
        assert_eq!((uids.present(id), uids.has_departed(id)), (None, false));
        change(&mut uids, None, record(UID, ""));
        change(&mut uids, record(UID, ""), record(UID, "a"));
        assert_eq!(uids.present(id), Some(&ObjectKey::new("ns", "r")));
        change(&mut uids, record(UID, "a"), None);
        assert_eq!((uids.present(id), uids.has_departed(id)), (None, true));
        // A record that a backup restored.
        change(&mut uids, None, record(UID, "a"));
        assert!(uids.present(id).is_some());
        // Another record of the same name.
        let (other, text) = uid(7);
        change(&mut uids, record(UID, "a"), record(&text, ""));
        assert!(uids.present(id).is_none() && uids.present(other).is_some());
    }

    #[test]
    fn d53_addresses_that_were_left_since_a_mark() {
        let mut uids = RecordUids::default();
        change(&mut uids, record(UID, "before"), None);
        let mark = uids.mark();
        assert!(!uids.left_since(mark).unwrap().contains(&address("before")));
        change(&mut uids, record(UID, "left"), record(UID, "other"));
        change(&mut uids, record(UID, "removed"), None);
        // The same state again.
        change(&mut uids, record(UID, "kept"), record(UID, "kept"));
        let left = uids.left_since(mark).unwrap();
        let contains =
            ["before", "left", "removed", "kept"].map(|addr| left.contains(&address(addr)));
        assert_eq!(contains, [false, true, true, false]);
    }

    #[test]
    fn d53_a_limited_number_of_departures_is_remembered() {
        let mut uids = RecordUids::default();
        let mark = uids.mark();
        let last = REMEMBERED as u128;
        for number in 0..=last {
            change(&mut uids, record(&uid(number).1, "a"), None);
            // Those that depart twice are remembered as long as the second time is.
            if number < 2 {
                change(&mut uids, record(&uid(number).1, "b"), None);
            }
        }
        let remembered = [0, 1, 2, 3, last].map(|number| uids.has_departed(uid(number).0));
        assert_eq!(remembered, [false, true, true, true, true]);
        assert!(uids.left_since(mark).is_none());
        assert!(uids.left_since(uids.mark()).is_some());
        assert_eq!(uids.departures.len(), REMEMBERED);
        assert!(uids.departed.len() <= REMEMBERED);
    }
}
