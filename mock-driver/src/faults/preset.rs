//! Rules for a whole character of cloud.

use super::rule::{
    DelayFault, FailFault, FaultAction, FaultMatch, FaultRule, HttpStatusFault, RunningFault,
};
use crate::glob::Glob;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A set of rules with a name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum FaultPreset {
    /// No faults; load balancers are created at once.
    Fast,
    /// Calls take some tens of milliseconds, one in fifty changes fails, deregistering takes a few
    /// seconds; load balancers take 4 s.
    Realistic,
    /// About one call in three goes wrong, in every way that there is.
    Chaos,
}

impl FaultPreset {
    /// The rules.
    #[must_use]
    pub fn rules(self) -> Vec<FaultRule> {
        let fail = |message: &str| {
            FaultAction::Fail(FailFault {
                message: Some(message.to_owned()),
                retry_after: None,
            })
        };
        let delay = |time, jitter| {
            FaultAction::Delay(DelayFault {
                time: Some(Duration::from_millis(time)),
                jitter: Some(Duration::from_millis(jitter)),
            })
        };
        match self {
            Self::Fast => Vec::new(),
            Self::Realistic => vec![
                rule(
                    "deregisterBackend",
                    None,
                    FaultAction::Running(RunningFault {
                        time: Some(Duration::from_secs(3)),
                        message: Some("connections drain".to_owned()),
                        retry_after: Some(Duration::from_secs(1)),
                        ..RunningFault::default()
                    }),
                ),
                rule(
                    "ensure*",
                    Some(0.02),
                    fail("the cloud has an internal error, please try again"),
                ),
                rule("*", None, delay(20, 60)),
            ],
            Self::Chaos => vec![
                rule(
                    "*LoadBalancer",
                    Some(0.1),
                    fail("chaos: the cloud has an internal error"),
                ),
                rule(
                    "*Backend*",
                    Some(0.1),
                    fail("chaos: the cloud has an internal error"),
                ),
                rule(
                    "*",
                    Some(0.04),
                    FaultAction::HttpStatus(HttpStatusFault {
                        code: 503,
                        body: "chaos".to_owned(),
                    }),
                ),
                rule("*", Some(0.05), FaultAction::LoseAnswer),
                rule("*", Some(0.04), FaultAction::Reset),
                rule("*", Some(0.03), FaultAction::Malformed),
                rule("*", Some(0.03), FaultAction::Truncated),
                rule("*", Some(0.01), FaultAction::Hang),
                rule("*", Some(0.2), delay(50, 950)),
            ],
        }
    }

    /// How long each stage of a creation takes, where no flag says so.
    #[must_use]
    pub const fn stage_duration(self) -> Duration {
        match self {
            Self::Fast => Duration::ZERO,
            Self::Realistic => Duration::from_secs(2),
            Self::Chaos => Duration::from_millis(100),
        }
    }
}

fn rule(webhook: &str, share: Option<f64>, action: FaultAction) -> FaultRule {
    FaultRule {
        matches: FaultMatch {
            webhook: (webhook != "*").then(|| Glob::from(webhook)),
            share,
            ..FaultMatch::default()
        },
        action,
    }
}
