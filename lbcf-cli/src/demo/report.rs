//! The result of the tour.

use serde::Serialize;
use std::collections::BTreeMap;

/// The result of the tour; with `--output json` it is printed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The steps in the order in which they ran.
    pub steps: Vec<StepReport>,
    /// Objects that were left behind in the cloud or the cluster; empty when all is well.
    pub leaked: Vec<String>,
    /// Whether every step passed or was skipped, and nothing was left behind.
    pub passed: bool,
    /// Whether a signal ended the tour early.
    #[serde(skip)]
    pub interrupted: bool,
}

/// The result of one step.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// The name of the step, such as `scale-up`.
    pub id: &'static str,
    /// A sentence on what the step does and what it expects.
    pub title: String,
    /// Whether the cloud reached the expected state; `false` for a step that was skipped.
    pub passed: bool,
    /// The duration in milliseconds.
    pub ms: u64,
    /// The number of calls of each webhook that was called.
    pub webhooks: BTreeMap<&'static str, u64>,
    /// The reason for which the step failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reason for which the step was skipped.
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
