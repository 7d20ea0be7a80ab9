//! The outcomes of calls as labels of a metric, whose number is bounded whatever a driver responds.

use super::entry::JournalEntry;
use lbcf_driver_sdk::webhook::ALL;

/// Those that [`JournalEntry::status`] lists.
const OUTCOMES: [&str; 9] = [
    "Succ",
    "Fail",
    "Running",
    "Accepted",
    "Refused",
    "Rejected",
    "Malformed",
    "Invalid",
    "NoAnswer",
];
/// For a status that is in no specification.
const OTHER: &str = "other";

/// The webhook and the outcome.
pub(super) fn of(entry: &JournalEntry) -> (&'static str, &'static str) {
    let webhook = ALL.iter().find(|webhook| webhook.name == entry.webhook);
    let outcome = OUTCOMES.into_iter().find(|it| *it == entry.status);
    (
        webhook.map_or(OTHER, |webhook| webhook.name),
        outcome.unwrap_or(OTHER),
    )
}
