//! Which entries to show.

use super::JournalEntry;
use crate::glob::Glob;
use serde::Deserialize;

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
    /// Whether to show the bodies.
    pub(crate) bodies: bool,
    /// For how many calls to wait; 1 by default.
    pub(crate) count: Option<usize>,
    /// How long to wait for them, such as `10s`, which is the default.
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
