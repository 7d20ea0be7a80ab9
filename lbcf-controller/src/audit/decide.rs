//! What follows from a backend that a driver listed. No I/O, no clock.

use uuid::Uuid;

/// What is known of a listed backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Whether a record has its address at this load balancer, or left it while the list was made. The
    /// list may be older than the departure.
    pub is_accounted_for: bool,
    pub origin: Origin,
    /// Whether the audit before found it without a record too.
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

/// What a `recordID` of `ensureBackend` contains, which is the uid of its record (d28).
pub(super) fn object_of(record_id: &str) -> Option<&str> {
    record_id.strip_prefix("ensureBackend(")?.strip_suffix(')')
}

pub(super) fn uid_of(record_id: &str) -> Option<Uuid> {
    Uuid::try_parse(object_of(record_id)?).ok()
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
