//! Counting, and what is kept.

use super::log::BODIES;
use super::*;
use crate::glob::Glob;
use std::collections::BTreeMap;

#[test]
fn the_difference_names_what_was_called_since() {
    let log = CallLog::default();
    log.count("healthz");
    let before = log.snapshot();
    log.count("ensureBackend");
    log.count("ensureBackend");
    let since = log.snapshot().difference(&before);
    assert_eq!(since.as_map(), &BTreeMap::from([("ensureBackend", 2)]));
    assert_eq!((since.get("healthz"), since.total()), (0, 2));
    assert_eq!(since.iter().collect::<Vec<_>>(), [("ensureBackend", 2)]);
}

fn numbers(log: &CallLog) -> Vec<u64> {
    let entries = log.entries(&CallQuery::default());
    entries.iter().map(|entry| entry.sequence).collect()
}

#[test]
fn the_journal_keeps_the_last_calls_and_continues_counting() {
    let log = CallLog::default();
    let watch = log.watch();
    for _ in 0..5 {
        log.add(JournalEntry::default(), 2);
    }
    assert_eq!(numbers(&log), [4, 5]);
    assert_eq!(*watch.borrow(), 5);
    log.clear();
    log.add(JournalEntry::default(), 2);
    assert_eq!(numbers(&log), [6]);
}

#[test]
fn long_bodies_are_cut_between_characters_and_many_push_old_entries_out() {
    let mut text = RecordedText::default();
    text.push("é".repeat(10_000).as_bytes());
    let (kept, is_cut) = text.into_text();
    assert!(is_cut);
    assert_eq!(kept, "é".repeat(8 << 10));

    let log = CallLog::default();
    let entry = JournalEntry {
        request: "x".repeat(BODIES / 2),
        ..JournalEntry::default()
    };
    for _ in 0..3 {
        log.add(entry.clone(), 1000);
    }
    assert_eq!(numbers(&log), [2, 3]);
}

#[test]
fn filters_are_patterns_and_all_have_to_fit() {
    let entry = JournalEntry {
        sequence: 7,
        webhook: "ensureBackend".into(),
        load_balancer: "lb-1/lbl-1".into(),
        status: "NoAnswer".into(),
        fault: Some("loseAnswer (rule 1)".into()),
        ..JournalEntry::default()
    };
    let glob = |text: &str| Some(Glob::from(text));
    let fitting = CallQuery {
        webhook: glob("*Backend"),
        load_balancer: glob("lb-1/*"),
        status: glob("NoAnswer"),
        fault: Some(true),
        since: Some(6),
        ..CallQuery::default()
    };
    assert!(fitting.fits(&entry));
    for other in [
        CallQuery {
            since: Some(7),
            ..CallQuery::default()
        },
        CallQuery {
            fault: Some(false),
            ..fitting.clone()
        },
        CallQuery {
            address: glob("10.*"),
            ..fitting.clone()
        },
        CallQuery {
            webhook: glob("*Balancer"),
            ..fitting
        },
    ] {
        assert!(!other.fits(&entry), "{other:?}");
    }
}
