//! Verifies all responses of a run.

use crate::checks::prelude::*;
use crate::checks::tour::{call_all_webhooks, valid_calls};
use lbcf_driver_sdk::webhook::Class;
use std::collections::BTreeMap;

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
    let mut exchanges = valid_calls(lab);
    exchanges.retain(|(_, exchange)| {
        matches!(&exchange.outcome, Ok(received) if (200..300).contains(&received.status))
    });
    first_problem(expected, exchanges, |webhook, exchange| {
        problem(webhook, exchange.outcome.as_ref().ok()?)
    })
}

/// Fails with the first exchange that has a `problem`, and counts all of them by webhook.
pub(super) fn first_problem(
    expected: &str,
    exchanges: Vec<(&'static str, Arc<Exchange>)>,
    problem: impl Fn(&'static str, &Exchange) -> Option<String>,
) -> CheckOutcome {
    let total = exchanges.len();
    let mut first = None;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (webhook, exchange) in exchanges {
        if let Some(problem) = problem(webhook, &exchange) {
            *counts.entry(webhook).or_default() += 1;
            first.get_or_insert((webhook, problem, exchange));
        }
    }
    let Some((webhook, problem, exchange)) = first else {
        return Ok(());
    };
    let count: usize = counts.values().sum();
    let counts: Vec<_> = counts
        .iter()
        .map(|(name, count)| format!("{count} of {name}"))
        .collect();
    let counts = counts.join(", ");
    let got = format!("{webhook}: {problem} ({count} of {total} responses: {counts})");
    Err(DriverReply::new(exchange).failed(expected, got))
}

/// The body, if it is one JSON object.
pub(super) fn object(received: &Received) -> Option<Map<String, Value>> {
    serde_json::from_slice(&received.body).ok()
}
