//! What checks that judge the whole run look at: every answer that the driver gave, and a call of
//! each webhook, if there was none yet.

use crate::check::Feature;
use crate::exchange::{Exchange, Kind};
use crate::lab::{Answer, Lab, Source};
use lbcf_driver_sdk::webhook::WebhookInfo;
use serde_json::Value;
use std::sync::Arc;

/// The nine webhooks that every driver has.
pub(in crate::checks) fn webhooks() -> impl Iterator<Item = &'static WebhookInfo> {
    lbcf_driver_sdk::webhook::ALL
        .iter()
        .filter(|webhook| webhook.name != "judgePodDeregister")
}

/// Those that controllers call for a driver with these features: nobody asks for the address of a
/// static backend.
pub(in crate::checks) fn webhooks_of(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    let generates = lab.has(Feature::PodBackends) || lab.has(Feature::ServiceBackends);
    webhooks().filter(move |webhook| generates || webhook.name != "generateBackendAddr")
}

/// Proper webhook calls of the run with what came of them.
pub(in crate::checks) fn proper(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    lab.record()
        .into_iter()
        .filter(|exchange| exchange.kind == Kind::Proper)
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect()
}

/// Sees to it that each of the nine webhooks was called properly in this run. What is called here
/// may well be refused: it is an answer all the same.
pub(in crate::checks) async fn tour(lab: &Lab) {
    let called = |name: &str| proper(lab).iter().any(|(webhook, _)| *webhook == name);
    if webhooks_of(lab).all(|webhook| called(webhook.name)) {
        return;
    }
    let mut load_balancer = lab.load_balancer();
    lab.call(&crate::lab::healthz()).await;
    lab.call(&load_balancer.validate()).await;
    if let Ok(answer) = lab.until_done(&load_balancer.create()).await {
        load_balancer.lb_info = answer.map("lbInfo");
    }
    if load_balancer.lb_info.is_empty() {
        load_balancer
            .lb_info
            .clone_from(&load_balancer.wanted.lb_spec);
    }
    lab.call(&load_balancer.ensure()).await;
    let mut backend = lab.backend(&load_balancer);
    let backend_type = lab.backend_types().first().copied().unwrap_or("Pod");
    let validate = crate::lab::validate_backend(&load_balancer, backend_type, &backend.parameters);
    lab.call(&validate).await;
    if backend.source != Source::Static {
        let answer: Answer = lab.call(&backend.generate()).await;
        if let Some(addr) = answer.field("backendAddr").and_then(Value::as_str) {
            addr.clone_into(&mut backend.addr);
        }
    }
    if backend.addr.is_empty() {
        backend.addr.clone_from(&lab.fixture().backend.unknown_addr);
    }
    lab.call(&backend.ensure()).await;
    lab.call(&backend.deregister()).await;
    lab.call(&load_balancer.delete()).await;
}
