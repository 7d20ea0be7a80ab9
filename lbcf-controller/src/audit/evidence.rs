//! What the index knows of the backends that a driver listed.

use super::decide::{Evidence, Origin, Verdict, decide, uid_of};
use super::findings::Findings;
use crate::api::{BackendRecord, ObjectKey, StringMap};
use crate::index::{AddressKey, DepartureMark, Index, LeftAddresses};
use lbcf_driver_sdk::webhook::ListedBackend;
use uuid::Uuid;

/// The listed load balancer, and what its audit is based on.
#[derive(Debug)]
pub(super) struct Audited<'a> {
    pub driver: ObjectKey,
    pub lb_info: StringMap,
    /// When listing began.
    pub began: DepartureMark,
    /// What the audit before found.
    pub before: Option<&'a Findings>,
    /// Whether the annotation asks for the removal of backends of unknown origin (d53).
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
