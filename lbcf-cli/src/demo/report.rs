//! The result of the tour.

use mock_driver::TrafficReport;
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of the tour; with `--output json` it is printed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The steps in the order in which they ran.
    pub steps: Vec<StepReport>,
    /// Objects that were left behind in the cloud or the cluster; empty when all is well.
    pub leaked: Vec<String>,
    /// The requests that clients sent through the load balancer from the second step to the last but one; none
    /// with fewer than two pods, with another driver, and where pods cannot have addresses of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficReport>,
    /// Every step passed or was skipped, nothing was left behind, and no request failed.
    pub passed: bool,
    /// A signal ended the tour early.
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
    /// The cloud reached the expected state; `false` for a step that was skipped.
    pub passed: bool,
    /// The duration in milliseconds.
    pub ms: u64,
    /// The number of calls of each webhook that was called.
    pub webhooks: BTreeMap<&'static str, u64>,
    /// The requests that were answered, or failed, during the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficReport>,
    /// The reason for which the step failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reason for which the step was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

impl Report {
    pub(super) fn new(
        steps: Vec<StepReport>,
        leaked: Vec<String>,
        traffic: Option<TrafficReport>,
    ) -> Self {
        // All are answered by pods, which say their names.
        let is_served = |it: &TrafficReport| {
            it.requests > 0 && it.by_backend.values().sum::<u64>() == it.requests
        };
        let passed = leaked.is_empty()
            && traffic.as_ref().is_none_or(is_served)
            && steps
                .iter()
                .all(|step| step.passed || step.skipped.is_some());
        Self {
            steps,
            leaked,
            traffic,
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
            traffic: None,
            error: None,
            skipped: skipped.map(str::to_owned),
        }
    }

    #[test]
    fn a_failed_step_and_a_leak_fail_the_tour_and_a_skipped_step_does_not() {
        assert!(
            Report::new(
                vec![step(true, None), step(false, Some("why"))],
                vec![],
                None
            )
            .passed
        );
        assert!(!Report::new(vec![step(true, None), step(false, None)], vec![], None).passed);
        assert!(!Report::new(vec![step(true, None)], vec!["a target".into()], None).passed);
    }

    #[test]
    fn a_failed_request_fails_the_tour_and_so_does_none_at_all() {
        let traffic = |requests, failed, by_pods| TrafficReport {
            requests,
            failed,
            by_backend: BTreeMap::from([("my-pod-0".to_owned(), by_pods)]),
            ..TrafficReport::default()
        };
        for (traffic, passed) in [
            (traffic(9, 0, 9), true),
            (traffic(9, 1, 8), false),
            (traffic(9, 0, 8), false),
            (traffic(0, 0, 0), false),
        ] {
            let report = Report::new(vec![step(true, None)], vec![], Some(traffic));
            assert_eq!(report.passed, passed);
        }
    }

    #[test]
    fn the_document_has_the_documented_form() {
        let traffic = TrafficReport {
            requests: 2,
            by_backend: BTreeMap::from([("my-pod-0".into(), 2)]),
            ..TrafficReport::default()
        };
        let report = Report::new(vec![step(true, None)], vec![], Some(traffic));
        assert_eq!(
            serde_json::to_value(report).unwrap(),
            serde_json::json!({
                "steps": [{"id": "register", "title": "title", "passed": true, "ms": 1,
                           "webhooks": {"ensureBackend": 3}}],
                "leaked": [],
                "traffic": {"requests": 2, "failed": 0, "byBackend": {"my-pod-0": 2}},
                "passed": true,
            })
        );
    }
}
