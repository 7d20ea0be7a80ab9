//! Judging all answers of a run at once.

use crate::checks::tour::{proper, tour};
use crate::exchange::{Exchange, Received};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The class of a webhook.
pub(super) fn class_of(name: &str) -> Option<Class> {
    let mut all = lbcf_driver_sdk::webhook::ALL.iter();
    all.find(|webhook| webhook.name == name)
        .map(|webhook| webhook.class)
}

/// Fails with the first answer that `problem` finds something wrong with, and says how many there
/// are of them. `problem` sees the answers with a status of 200 to 299.
pub(super) async fn judge(
    lab: &Lab,
    expected: &str,
    problem: impl Fn(&'static str, &Received) -> Option<String>,
) -> Verdict {
    tour(lab).await;
    let mut judged = 0;
    let mut bad = Vec::new();
    for (webhook, exchange) in proper(lab) {
        let Ok(received) = &exchange.outcome else {
            continue;
        };
        if !(200..300).contains(&received.status) {
            continue;
        }
        judged += 1;
        if let Some(problem) = problem(webhook, received) {
            bad.push((webhook, problem, exchange.clone()));
        }
    }
    verdict(expected, judged, bad)
}

/// Fails with the first of what was bad.
pub(super) fn verdict(
    expected: &str,
    judged: usize,
    bad: Vec<(&'static str, String, Arc<Exchange>)>,
) -> Verdict {
    let mut by_webhook: BTreeMap<&str, usize> = BTreeMap::new();
    for (webhook, ..) in &bad {
        *by_webhook.entry(webhook).or_default() += 1;
    }
    let counts: Vec<String> = by_webhook
        .iter()
        .map(|(name, count)| format!("{count} of {name}"))
        .collect();
    let count = bad.len();
    let Some((webhook, problem, exchange)) = bad.into_iter().next() else {
        return Ok(());
    };
    let mut failure = Failure::new(
        expected,
        format!(
            "{webhook}: {problem} ({count} of {judged} answers: {})",
            counts.join(", ")
        ),
    );
    failure.exchange = Some(exchange);
    Err(failure.into())
}

/// The body, if it is one JSON object.
pub(super) fn object(received: &Received) -> Option<Map<String, Value>> {
    serde_json::from_slice(&received.body).ok()
}
