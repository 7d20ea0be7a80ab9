//! The verdicts about backends that a driver listed, from what the index knows of them. No I/O, no clock.

use super::findings::Findings;
use crate::api::{BackendRecord, ObjectKey, StringMap};
use crate::index::{AddressKey, DepartureMark, Index, LeftAddresses};
use lbcf_driver_sdk::webhook::ListedBackend;
use uuid::Uuid;

/// The facts that [`decide`] depends on, taken from the index for one listed backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    /// A record has its address at this load balancer, or left it while the driver listed the backends:
    /// the list may be older than the departure.
    pub is_accounted_for: bool,
    pub origin: Origin,
    /// The previous audit found it without a record too. Only then may it be removed.
    pub was_found_before: bool,
}

/// Whose a listed backend is, by its `recordID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It has none: a user registered it by hand, or the driver cannot tell.
    Unmarked,
    /// Its record exists and has this address, for the same load balancer under another identity, or no
    /// address yet.
    Claimed,
    /// Its record exists at another address, or existed: it is this cluster's.
    Ours,
    /// Its record is not known here: it is another cluster's, or was removed long ago.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    AccountedFor,
    /// It is reported and stays.
    Orphan,
    /// It is deregistered.
    Remove,
}

/// A backend is removed if the audit before found it as well: a group whose records were lost in a
/// restore of the cluster is about to create them again, for backends that serve traffic.
pub(super) fn decide(evidence: Evidence, removes_marked: bool) -> Verdict {
    if evidence.is_accounted_for {
        return Verdict::AccountedFor;
    }
    match evidence.origin {
        Origin::Claimed => Verdict::AccountedFor,
        Origin::Ours if evidence.was_found_before => Verdict::Remove,
        Origin::Unknown if evidence.was_found_before && removes_marked => Verdict::Remove,
        Origin::Ours | Origin::Unknown | Origin::Unmarked => Verdict::Orphan,
    }
}

/// Extracts the uid of a record from a `recordID` of `ensureBackend`; none for other texts.
pub(super) fn object_of(record_id: &str) -> Option<&str> {
    record_id.strip_prefix("ensureBackend(")?.strip_suffix(')')
}

pub(super) fn uid_of(record_id: &str) -> Option<Uuid> {
    Uuid::try_parse(object_of(record_id)?).ok()
}

/// The listed load balancer, and what its audit is based on.
#[derive(Debug)]
pub(super) struct Audited<'a> {
    pub driver: ObjectKey,
    pub lb_info: StringMap,
    /// When listing began.
    pub began: DepartureMark,
    /// The findings of the previous audit; none after a start of the controller.
    pub before: Option<&'a Findings>,
    /// The annotation of the load balancer allows the removal of backends of unknown origin.
    pub removes_marked: bool,
}

impl Audited<'_> {
    pub(super) fn address(&self, backend: &ListedBackend) -> AddressKey {
        let (driver, lb_info) = (self.driver.clone(), self.lb_info.clone());
        AddressKey::new(driver, lb_info, backend.backend_addr.clone())
    }

    /// The backends that no record accounts for, with the verdict about each; none if that cannot be
    /// known, because a record cannot be parsed (u9) or too many changed.
    pub(super) fn orphans(
        &self,
        index: &Index,
        listed: Vec<ListedBackend>,
    ) -> Option<Vec<(ListedBackend, Verdict)>> {
        if index.records.has_unreadable() {
            return None;
        }
        let left = index.records.uids.left_since(self.began)?;
        let verdicts = listed.into_iter().map(|backend| {
            let evidence = self.evidence(index, &left, &backend);
            (backend, decide(evidence, self.removes_marked))
        });
        let orphans = verdicts.filter(|(_, verdict)| *verdict != Verdict::AccountedFor);
        Some(orphans.collect())
    }

    fn evidence(&self, index: &Index, left: &LeftAddresses, backend: &ListedBackend) -> Evidence {
        let address = self.address(backend);
        Evidence {
            is_accounted_for: index.records.has_address(&address) || left.contains(&address),
            origin: origin(index, backend),
            was_found_before: self.before.is_some_and(|before| before.contains(backend)),
        }
    }
}

fn origin(index: &Index, backend: &ListedBackend) -> Origin {
    if backend.record_id.is_empty() {
        return Origin::Unmarked;
    }
    match uid_of(&backend.record_id) {
        Some(uid) => origin_by_uid(index, uid, &backend.backend_addr),
        None => Origin::Unknown,
    }
}

fn origin_by_uid(index: &Index, uid: Uuid, addr: &str) -> Origin {
    let Some(key) = index.records.uids.present(uid) else {
        return if index.records.uids.has_departed(uid) {
            Origin::Ours
        } else {
            Origin::Unknown
        };
    };
    let record = index.find::<BackendRecord>(key);
    let address = record.as_deref().and_then(AddressKey::of);
    match address {
        Some(address) if address.addr() != addr => Origin::Ours,
        _ => Origin::Claimed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d53_only_what_two_audits_find_and_a_record_id_proves_is_removed() {
        use Origin::{Claimed, Ours, Unknown, Unmarked};
        use Verdict::{AccountedFor, Orphan, Remove};
        for (origin, first, second, second_with_annotation) in [
            (Unmarked, Orphan, Orphan, Orphan),
            (Unknown, Orphan, Orphan, Remove),
            (Ours, Orphan, Remove, Remove),
            (Claimed, AccountedFor, AccountedFor, AccountedFor),
        ] {
            let evidence = |was_found_before| Evidence {
                is_accounted_for: false,
                origin,
                was_found_before,
            };
            let verdicts = [
                decide(evidence(false), false),
                decide(evidence(true), false),
                decide(evidence(true), true),
            ];
            assert_eq!(
                verdicts,
                [first, second, second_with_annotation],
                "{origin:?}"
            );
            assert_eq!(decide(evidence(false), true), first, "{origin:?}");
            for removes_marked in [false, true] {
                let accounted = Evidence {
                    is_accounted_for: true,
                    ..evidence(true)
                };
                assert_eq!(
                    decide(accounted, removes_marked),
                    AccountedFor,
                    "{origin:?}"
                );
            }
        }
    }

    #[test]
    fn d28_a_record_id_contains_the_uid_of_its_record() {
        let uid = "08e36678-82c8-11e9-b9e7-525400854cbb";
        let parsed = Uuid::parse_str(uid).ok();
        assert!(parsed.is_some());
        for (record_id, expected) in [
            (format!("ensureBackend({uid})"), parsed),
            (format!("deregisterBackend({uid})"), None),
            (format!("ensureBackend({uid}-lb)"), None),
            (format!("ensureBackend({uid}"), None),
            (uid.to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(uid_of(&record_id), expected, "{record_id}");
        }
    }
}
