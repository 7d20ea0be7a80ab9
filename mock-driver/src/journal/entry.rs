//! An entry of the journal, and which entries a reader asks for.

use crate::glob::Glob;
use lbcf_driver_sdk::webhook::ALL;
use serde::{Deserialize, Serialize};
use std::ops::Not;

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
/// The limit of a body in an entry, in bytes.
const KEPT: usize = 16 << 10;
/// The limit of a body from which the outcome is read, in bytes.
const READ: usize = 4 << 20;

/// One call of a webhook, with its outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    /// Its number among all calls, from 1, in the order in which they ended.
    pub sequence: u64,
    /// When it arrived, such as `2026-01-31T12:00:00.5Z`.
    pub time: String,
    /// The time that it took, in microseconds.
    pub micros: u64,
    /// The name of the webhook, such as `ensureBackend`.
    pub webhook: String,
    /// The call's recordID; empty where the webhook has none.
    #[serde(rename = "recordID")]
    pub record_id: String,
    /// The call's retryID; empty where the webhook has none.
    #[serde(rename = "retryID")]
    pub retry_id: String,
    /// True if the request had `dryRun` set.
    pub dry_run: bool,
    /// The values of `lbInfo`, of the request or else of the response, such as `lb-1234/lbl-2234`.
    pub load_balancer: String,
    /// The backend's address: its IP and port, where it is the mock's own.
    pub address: String,
    /// The outcome: `Succ`, `Fail` or `Running`; for a webhook that decides, `Accepted` or `Refused`;
    /// `Rejected` with another status code than 200, `Malformed` or `Invalid` for a body that is no
    /// response, and `NoAnswer`.
    pub status: String,
    /// The message of the reply, or why there was none.
    pub msg: String,
    /// The status code, if the driver has responded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The fault that was applied, and where it comes from: `loseAnswer (rule 1)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The request's body as text, up to 16 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// True if the request's body was longer.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub request_cut: bool,
    /// The response's body as text, up to 16 KiB, as the client got it; of a response that a fault
    /// has lost, as the driver gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// True if the response's body was longer.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub response_cut: bool,
}

impl JournalEntry {
    /// The length of both bodies.
    pub(super) const fn bodies(&self) -> usize {
        self.request.len() + self.response.len()
    }

    /// The webhook and the outcome as labels of a metric, whose number is bounded whatever a driver responds.
    pub(super) fn outcome(&self) -> (&'static str, &'static str) {
        let webhook = ALL.iter().find(|webhook| webhook.name == self.webhook);
        let outcome = OUTCOMES.into_iter().find(|it| *it == self.status);
        (
            webhook.map_or(OTHER, |webhook| webhook.name),
            outcome.unwrap_or(OTHER),
        )
    }

    /// The entry without its bodies, for lists.
    pub(crate) fn without_bodies(mut self) -> Self {
        self.request.clear();
        self.response.clear();
        self
    }
}

/// The beginning of a body.
#[derive(Debug, Default)]
pub(crate) struct RecordedText(Vec<u8>);

impl RecordedText {
    /// The beginning of a body that is complete.
    pub(crate) fn of(body: &[u8]) -> Self {
        Self(body[..body.len().min(KEPT + 1)].to_vec())
    }

    pub(crate) fn push(&mut self, data: &[u8]) {
        let room = READ.saturating_sub(self.0.len());
        self.0.extend_from_slice(&data[..data.len().min(room)]);
    }

    pub(crate) fn begin(&self) -> &[u8] {
        &self.0
    }

    /// The text for an entry, and whether there was more.
    pub(crate) fn into_text(self) -> (String, bool) {
        let is_cut = self.0.len() > KEPT;
        let kept = &self.0[..self.0.len().min(KEPT)];
        // The end of a cut body may be a part of a character.
        let whole = match std::str::from_utf8(kept) {
            Err(error) if is_cut && error.error_len().is_none() => &kept[..error.valid_up_to()],
            _ => kept,
        };
        (String::from_utf8_lossy(whole).into_owned(), is_cut)
    }
}

/// The query of the endpoints about calls. Texts are patterns with `*` and `?`.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CallQuery {
    pub(super) webhook: Option<Glob>,
    #[serde(rename = "recordID")]
    pub(super) record_id: Option<Glob>,
    pub(super) load_balancer: Option<Glob>,
    pub(super) address: Option<Glob>,
    pub(super) status: Option<Glob>,
    /// Only calls with a fault, or only those without.
    pub(super) fault: Option<bool>,
    /// Only calls after the one with this number.
    pub(crate) since: Option<u64>,
    /// True to show the bodies.
    pub(crate) bodies: bool,
    /// For how many calls to wait; 1 by default.
    pub(crate) count: Option<usize>,
    /// The limit of waiting for them, such as `10s`, which is the default.
    pub(crate) timeout: Option<String>,
}

impl CallQuery {
    pub(crate) fn fits(&self, entry: &JournalEntry) -> bool {
        let is =
            |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        self.since.is_none_or(|since| entry.sequence > since)
            && is(&self.webhook, &entry.webhook)
            && is(&self.record_id, &entry.record_id)
            && is(&self.load_balancer, &entry.load_balancer)
            && is(&self.address, &entry.address)
            && is(&self.status, &entry.status)
            && self
                .fault
                .is_none_or(|fault| fault == entry.fault.is_some())
    }
}
