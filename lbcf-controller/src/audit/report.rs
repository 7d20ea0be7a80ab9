//! The condition and event about backends that no record accounts for. No I/O, no clock.

use crate::api::{Condition, ConditionStatus, Conditions, condition_types, reasons};

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
    let stored = stored.find(condition_types::DRIFT);
    let new = if orphans.len() > 0 {
        let message = format!(
            "no BackendRecord accounts for {}",
            backends("registered backend", orphans)
        );
        Condition {
            status: ConditionStatus::True,
            ..Condition::unmet(
                condition_types::DRIFT,
                reasons::ORPHANED_BACKENDS,
                message,
                None,
            )
        }
    } else {
        stored?;
        Condition::unmet(condition_types::DRIFT, reasons::RESOLVED, "", None)
    };
    let is_news = stored.is_none_or(|stored| {
        (stored.status, &stored.reason, &stored.message) != (new.status, &new.reason, &new.message)
    });
    is_news.then_some(new)
}

/// The condition of a load balancer that is not audited any more, if it still has what an audit found: that
/// may be outdated.
pub(super) fn not_audited(stored: &[Condition]) -> Option<Condition> {
    let stored = stored.find(condition_types::DRIFT)?;
    let message = "audits are off, or the LoadBalancerDriver does not list listBackends any more";
    let unknown = Condition {
        status: ConditionStatus::Unknown,
        ..Condition::unmet(condition_types::DRIFT, reasons::NOT_AUDITED, message, None)
    };
    (stored.status != unknown.status).then_some(unknown)
}

/// The number of backends, and the first addresses.
pub(super) fn backends<'a>(
    noun: &str,
    addresses: impl ExactSizeIterator<Item = &'a String>,
) -> String {
    let count = addresses.len();
    let listed: Vec<String> = addresses.take(LISTED).map(|addr| shortened(addr)).collect();
    let mut text = match count {
        1 => format!("1 {noun}: "),
        count => format!("{count} {noun}s: "),
    };
    text.push_str(&listed.join(", "));
    if count > LISTED {
        text.push_str(&format!(" and {} more", count - LISTED));
    }
    text
}

fn shortened(addr: &str) -> String {
    match addr.char_indices().nth(ADDRESS_MAX) {
        Some((end, _)) => format!("{}…", &addr[..end]),
        None => addr.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

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
