//! The differences between two reports, and which of them are regressions.

use crate::output::{ConformanceReport, RuleResult};
use crate::report::{SkipKind, Status};
use std::collections::BTreeSet;

/// A rule whose result is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change<'r> {
    pub(super) id: &'r str,
    /// The new result; the old one of a rule that is gone.
    pub(super) rule: &'r RuleResult,
    /// The difference, such as `newly failing`.
    pub(super) what: &'static str,
    pub(super) is_regression: bool,
}

/// The changes in the order of the ids.
pub(super) fn find<'r>(old: &'r ConformanceReport, new: &'r ConformanceReport) -> Vec<Change<'r>> {
    let ids: BTreeSet<&String> = old.results.keys().chain(new.results.keys()).collect();
    let changed = ids.into_iter().filter_map(|id| {
        let (before, after) = (old.results.get(id), new.results.get(id));
        let rule = after.or(before)?;
        let [before, after] = [before, after].map(|rule| rule.map(|rule| rule.result));
        let what = match (before, after) {
            _ if before == after => return None,
            (None, _) => "new rule",
            (_, Some(Status::Passed)) => "newly passing",
            (_, Some(Status::Failed)) => "newly failing",
            (_, Some(Status::Skipped)) => "newly skipped",
            // It is the kit that changed, not the driver.
            (_, None) => "no longer a rule",
        };
        // With the same profile, only the features of the driver say which rules apply to it.
        let applies = rule.skip != Some(SkipKind::NotApplicable) || old.mode != new.mode;
        Some(Change {
            id,
            rule,
            what,
            is_regression: before == Some(Status::Passed) && after.is_some() && applies,
        })
    });
    changed.collect()
}
