//! Verifies all responses of a run.

use crate::checks::tour::{call_all_webhooks, valid_calls};
use crate::exchange::{Exchange, Received};
use crate::lab::{DriverReply, Lab};
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn class_of(name: &str) -> Option<Class> {
    let mut all = lbcf_driver_sdk::webhook::ALL.iter();
    all.find(|webhook| webhook.name == name)
        .map(|webhook| webhook.class)
}

/// Fails with the first response that has a `problem`, and counts all of them. `problem` gets the
/// responses with a status from 200 to 299.
pub(super) async fn verify_all(
    lab: &Lab,
    expected: &str,
    problem: impl Fn(&'static str, &Received) -> Option<String>,
) -> CheckOutcome {
    call_all_webhooks(lab).await;
    let mut total = 0;
    let mut problems = Vec::new();
    for (webhook, exchange) in valid_calls(lab) {
        let Ok(received) = &exchange.outcome else {
            continue;
        };
        if !(200..300).contains(&received.status) {
            continue;
        }
        total += 1;
        if let Some(problem) = problem(webhook, received) {
            problems.push((webhook, problem, exchange.clone()));
        }
    }
    first_problem(expected, total, problems)
}

/// Fails with the first of the problems.
pub(super) fn first_problem(
    expected: &str,
    total: usize,
    problems: Vec<(&'static str, String, Arc<Exchange>)>,
) -> CheckOutcome {
    let mut by_webhook: BTreeMap<&str, usize> = BTreeMap::new();
    for (webhook, ..) in &problems {
        *by_webhook.entry(webhook).or_default() += 1;
    }
    let counts: Vec<String> = by_webhook
        .iter()
        .map(|(name, count)| format!("{count} of {name}"))
        .collect();
    let count = problems.len();
    let Some((webhook, problem, exchange)) = problems.into_iter().next() else {
        return Ok(());
    };
    let counts = counts.join(", ");
    let got = format!("{webhook}: {problem} ({count} of {total} responses: {counts})");
    Err(DriverReply::new(exchange).failed(expected, got))
}

/// The body, if it is one JSON object.
pub(super) fn object(received: &Received) -> Option<Map<String, Value>> {
    serde_json::from_slice(&received.body).ok()
}
