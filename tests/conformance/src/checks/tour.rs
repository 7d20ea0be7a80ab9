//! The exchanges for checks of the whole run, with at least one call of each webhook, and what these
//! checks have in common.

use super::jpd;
use super::prelude::*;
use crate::lab::listed::list;
use lbcf_driver_sdk::webhook::{self, Class, Obligation, WebhookInfo};
use std::collections::BTreeMap;

/// The webhooks of this driver: the nine that every driver has, and judgePodDeregister and
/// listBackends if its features name them.
pub(super) fn webhooks(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    webhook::ALL
        .iter()
        .filter(|webhook| match webhook.obligation {
            Obligation::Mandatory | Obligation::Optional => true,
            Obligation::OnRequest => lab.has(Feature::JudgePodDeregister),
            Obligation::Listed => lab.has(Feature::ListBackends),
        })
}

/// The webhooks that controllers call for this driver: the address of a static backend is not
/// generated.
pub(super) fn called_webhooks(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    let generates = lab.generates_addresses();
    webhooks(lab).filter(move |webhook| generates || webhook.name != "generateBackendAddr")
}

/// The valid webhook calls of the run.
pub(super) fn valid_calls(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    webhook_calls(lab, |exchange| exchange.kind == RequestKind::Valid)
}

/// The requests to webhooks, with their names.
pub(super) fn webhook_calls(
    lab: &Lab,
    is_selected: impl Fn(&Exchange) -> bool,
) -> Vec<(&'static str, Arc<Exchange>)> {
    let exchanges = lab.run.record.all().into_iter();
    let selected = exchanges.filter(|exchange| is_selected(exchange));
    let named = selected.filter_map(|exchange| Some((exchange.webhook?, exchange)));
    named.collect()
}

/// Calls each webhook of the driver, unless the run already called all of them. The calls may fail.
pub(super) async fn call_all_webhooks(lab: &Lab) {
    let calls = valid_calls(lab);
    let called = |name: &str| calls.iter().any(|(webhook, _)| *webhook == name);
    if called_webhooks(lab).all(|webhook| called(webhook.name)) {
        return;
    }
    let mut lb = lab.load_balancer();
    lab.call(&healthz()).await;
    lab.call(&lb.validate()).await;
    lb.lb_info = match lab.until_done(&lb.create()).await {
        Ok(reply) => reply.identity(&lb.sample.lb_spec),
        Err(_) => lb.sample.lb_spec.clone(),
    };
    lab.call(&lb.ensure()).await;
    let mut backend = lab.backend(&lb);
    let backend_type = lab.backend_types().first().copied().unwrap_or("Pod");
    let validate = validate_backend(&lb, backend_type, &backend.parameters);
    lab.call(&validate).await;
    if backend.source != Source::Static {
        let reply = lab.call(&backend.generate()).await;
        let unknown = lab.run.fixture.backend.unknown_addr.as_str();
        backend.addr = reply.backend_addr().unwrap_or(unknown).to_owned();
    }
    lab.call(&backend.ensure()).await;
    if lab.has(Feature::ListBackends) {
        lab.call(&list(lab, &lb.lb_info)).await;
    }
    if lab.has(Feature::JudgePodDeregister) {
        lab.call(&jpd::judge(&jpd::not_ready(lab))).await;
    }
    lab.call(&backend.deregister()).await;
    lab.call(&lb.delete()).await;
}

pub(super) fn class_of(name: &str) -> Option<Class> {
    let mut all = webhook::ALL.iter();
    Some(all.find(|webhook| webhook.name == name)?.class)
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
    let counts = counts.iter();
    let counts = counts.map(|(name, count)| format!("{count} of {name}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let got = format!("{webhook}: {problem} ({count} of {total} responses: {counts})");
    Err(DriverReply::new(exchange).failed(expected, got))
}

/// The body, if it is one JSON object.
pub(super) fn object(received: &Received) -> Option<Map<String, Value>> {
    serde_json::from_slice(&received.body).ok()
}

/// Requires a response of the webhook's class, whatever its content.
pub(super) fn is_valid(reply: &DriverReply, how: &str) -> CheckOutcome {
    let webhook = reply.exchange.webhook.unwrap_or_default();
    let is_valid = match class_of(webhook) {
        Some(Class::Health) => reply.healthy().is_some(),
        Some(Class::Verdict) => reply.decision().is_some(),
        _ => reply.status().is_some(),
    };
    let expected = format!("a valid response of {webhook} {how}");
    reply.check(is_valid, expected, reply.summary())
}

pub(super) fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
