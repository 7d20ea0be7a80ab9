//! The verdicts about backends that a driver listed, from what the index knows of them. No I/O, no clock.

use crate::api::{
    BackendRecord, Condition, ConditionStatus, Conditions, ObjectKey, StringMap, condition_types,
    reasons,
};
use crate::index::{AddressKey, DepartureMark, Index, LeftAddresses, RequestKey};
use crate::process::metrics::Metrics;
use crate::process::text::{listed, shortened};
use lbcf_driver_sdk::webhook::ListedBackend;
use std::collections::{BTreeMap, BTreeSet};
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
    /// known, because a record cannot be parsed or too many changed.
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

/// The backends of one load balancer that no record accounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings {
    pub driver: ObjectKey,
    /// By address, with their recordIDs.
    pub orphans: BTreeMap<String, String>,
}

impl Findings {
    pub(super) fn contains(&self, backend: &ListedBackend) -> bool {
        self.orphans.get(&backend.backend_addr) == Some(&backend.record_id)
    }
}

/// The findings of all load balancers, and their sums as metrics.
#[derive(Debug)]
pub(super) struct AllFindings {
    by_load_balancer: BTreeMap<RequestKey, Findings>,
    metrics: Metrics,
}

impl AllFindings {
    pub(super) const fn new(metrics: Metrics) -> Self {
        Self {
            by_load_balancer: BTreeMap::new(),
            metrics,
        }
    }

    pub(super) fn of(&self, key: &RequestKey) -> Option<&Findings> {
        self.by_load_balancer.get(key)
    }

    pub(super) fn set(&mut self, key: RequestKey, findings: Findings) {
        let driver = findings.driver.clone();
        let old = self.by_load_balancer.insert(key, findings);
        self.publish(old.map(|old| old.driver).into_iter().chain([driver]));
    }

    pub(super) fn remove(&mut self, key: &RequestKey) {
        let removed = self.by_load_balancer.remove(key);
        self.publish(removed.map(|findings| findings.driver));
    }

    /// Removes the findings of load balancers that are not audited any more.
    pub(super) fn retain(&mut self, audited: &BTreeSet<RequestKey>) {
        let mut drivers = Vec::new();
        self.by_load_balancer.retain(|key, findings| {
            let stays = audited.contains(key);
            if !stays {
                drivers.push(findings.driver.clone());
            }
            stays
        });
        self.publish(drivers);
    }

    fn publish(&self, drivers: impl IntoIterator<Item = ObjectKey>) {
        for driver in drivers {
            let of_driver = self.by_load_balancer.values();
            let of_driver = of_driver.filter(|findings| findings.driver == driver);
            let mut counts = of_driver.map(|findings| findings.orphans.len()).peekable();
            let is_audited = counts.peek().is_some();
            self.metrics
                .orphaned(&driver, is_audited.then(|| counts.sum()));
        }
    }
}

/// The number of addresses that a message lists at most.
const LISTED: usize = 5;
/// The longest address in a message, in characters: drivers may return any text.
const ADDRESS_MAX: usize = 100;

/// The condition to store, if it differs from the stored ones. Without an orphan it is only stored where
/// there was one.
pub(super) fn news<'a>(
    stored: &[Condition],
    orphans: impl ExactSizeIterator<Item = &'a String>,
) -> Option<Condition> {
    let new = if orphans.len() > 0 {
        let message = format!(
            "no BackendRecord accounts for {}",
            backends("registered backend", orphans)
        );
        let reason = reasons::ORPHANED_BACKENDS;
        Condition::unmet(condition_types::DRIFT, reason, message, None)
            .with_status(ConditionStatus::True)
    } else {
        stored.find(condition_types::DRIFT)?;
        Condition::unmet(condition_types::DRIFT, reasons::RESOLVED, "", None)
    };
    new.is_news(stored).then_some(new)
}

/// The condition of a load balancer that is not audited any more, if it still has what an audit found: that
/// may be outdated.
pub(super) fn not_audited(stored: &[Condition]) -> Option<Condition> {
    let stored = stored.find(condition_types::DRIFT)?;
    let message = "audits are off, or the LoadBalancerDriver does not list listBackends any more";
    let unknown = Condition::unmet(condition_types::DRIFT, reasons::NOT_AUDITED, message, None)
        .with_status(ConditionStatus::Unknown);
    (stored.status != unknown.status).then_some(unknown)
}

/// The number of backends, and the first addresses.
pub(super) fn backends<'a>(
    noun: &str,
    addresses: impl ExactSizeIterator<Item = &'a String>,
) -> String {
    let count = addresses.len();
    let addresses = addresses.map(|addr| shortened(addr.clone(), ADDRESS_MAX));
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}: {}", listed(addresses, LISTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

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

    fn addresses(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("10.0.0.{number}:80"))
            .collect()
    }

    #[test]
    fn d53_the_condition_is_written_only_when_it_changes() {
        let none: [Condition; 0] = [];
        assert_eq!(news(&none, addresses(0).iter()), None);
        let drift = news(&none, addresses(2).iter()).unwrap();
        assert_eq!(drift.status, ConditionStatus::True);
        assert_eq!(drift.reason, "OrphanedBackends");
        let expected =
            "no BackendRecord accounts for 2 registered backends: 10.0.0.0:80, 10.0.0.1:80";
        assert_eq!(drift.message, expected);
        let stored = none.with(drift, Timestamp::UNIX_EPOCH);
        assert_eq!(news(&stored, addresses(2).iter()), None);
        assert!(news(&stored, addresses(1).iter()).is_some());
        let resolved = news(&stored, addresses(0).iter()).unwrap();
        assert_eq!(resolved.status, ConditionStatus::False);
        assert_eq!((&*resolved.reason, &*resolved.message), ("Resolved", ""));
        let stored = stored.with(resolved, Timestamp::UNIX_EPOCH);
        assert_eq!(news(&stored, addresses(0).iter()), None);
    }

    #[test]
    fn d53_what_an_audit_found_is_unknown_without_audits() {
        let none: [Condition; 0] = [];
        assert_eq!(not_audited(&none), None);
        let drift = news(&none, addresses(1).iter()).unwrap();
        let stored = none.with(drift, Timestamp::UNIX_EPOCH);
        let unknown = not_audited(&stored).unwrap();
        assert_eq!(unknown.status, ConditionStatus::Unknown);
        let stored = stored.with(unknown, Timestamp::UNIX_EPOCH);
        assert_eq!(not_audited(&stored), None);
        let resolved = news(&stored, addresses(0).iter()).unwrap();
        assert_eq!(resolved.status, ConditionStatus::False);
    }

    #[test]
    fn d53_a_message_lists_the_first_addresses_and_shortens_long_ones() {
        let text = |addresses: &[String]| backends("backend", addresses.iter());
        assert_eq!(text(&addresses(1)), "1 backend: 10.0.0.0:80");
        assert!(text(&addresses(5)).ends_with("10.0.0.4:80"));
        assert!(text(&addresses(7)).ends_with("10.0.0.4:80 and 2 more"));
        let long = text(&["ä".repeat(5000)]);
        assert_eq!(long, format!("1 backend: {}…", "ä".repeat(ADDRESS_MAX)));
    }
}
