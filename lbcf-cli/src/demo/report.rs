//! What the tour came to.

use serde::Serialize;
use std::collections::BTreeMap;

/// The whole tour.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The steps, in their order.
    pub steps: Vec<StepReport>,
    /// What was left behind in the cloud or the cluster.
    pub leaked: Vec<String>,
    /// Whether every step that was not skipped passed, and nothing was left behind.
    pub passed: bool,
    /// Whether somebody ended it early.
    #[serde(skip)]
    pub interrupted: bool,
}

/// One step.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// Its name.
    pub id: &'static str,
    /// What it does.
    pub title: String,
    /// Whether the cloud showed what it should. A step that was skipped did not pass.
    pub passed: bool,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The webhooks that were called, and how often.
    pub webhooks: BTreeMap<&'static str, u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

impl Report {
    pub(super) fn new(steps: Vec<StepReport>, leaked: Vec<String>) -> Self {
        let passed = leaked.is_empty()
            && steps
                .iter()
                .all(|step| step.passed || step.skipped.is_some());
        Self {
            steps,
            leaked,
            passed,
            interrupted: false,
        }
    }

    pub(super) fn interrupted() -> Self {
        Self {
            interrupted: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(passed: bool, skipped: Option<&str>) -> StepReport {
        StepReport {
            id: "register",
            title: "title".into(),
            passed,
            ms: 1,
            webhooks: BTreeMap::from([("ensureBackend", 3)]),
            error: None,
            skipped: skipped.map(str::to_owned),
        }
    }

    #[test]
    fn a_failed_step_and_a_leak_fail_the_tour_and_a_skipped_step_does_not() {
        assert!(Report::new(vec![step(true, None), step(false, Some("why"))], vec![]).passed);
        assert!(!Report::new(vec![step(true, None), step(false, None)], vec![]).passed);
        assert!(!Report::new(vec![step(true, None)], vec!["a target".into()]).passed);
    }

    #[test]
    fn the_document_has_the_documented_form() {
        let report = Report::new(vec![step(true, None)], vec![]);
        assert_eq!(
            serde_json::to_value(report).unwrap(),
            serde_json::json!({
                "steps": [{"id": "register", "title": "title", "passed": true, "ms": 1,
                           "webhooks": {"ensureBackend": 3}}],
                "leaked": [],
                "passed": true,
            })
        );
    }
}
