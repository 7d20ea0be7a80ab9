//! The exchanges for checks of the whole run, with at least one call of each webhook.

use crate::exchange::{Exchange, RequestKind};
use crate::lab::{Lab, Source, healthz, validate_backend};
use lbcf_driver_sdk::webhook::{Obligation, WebhookInfo};
use std::sync::Arc;

/// The nine webhooks that every driver has.
pub(in crate::checks) fn webhooks() -> impl Iterator<Item = &'static WebhookInfo> {
    let is_of_every_driver = |webhook: &&WebhookInfo| match webhook.obligation {
        Obligation::Mandatory | Obligation::Optional => true,
        Obligation::OnRequest | Obligation::Listed => false,
    };
    lbcf_driver_sdk::webhook::ALL
        .iter()
        .filter(is_of_every_driver)
}

/// The webhooks that controllers call for a driver with these features: the address of a static
/// backend is not generated.
pub(in crate::checks) fn webhooks_of(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    let generates = lab.generates_addresses();
    webhooks().filter(move |webhook| generates || webhook.name != "generateBackendAddr")
}

/// The valid webhook calls of the run.
pub(in crate::checks) fn valid_calls(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    lab.record()
        .into_iter()
        .filter(|exchange| exchange.kind == RequestKind::Valid)
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect()
}

/// Calls each of the nine webhooks, unless the run already called all of them. The calls may fail.
pub(in crate::checks) async fn call_all_webhooks(lab: &Lab) {
    let calls = valid_calls(lab);
    let called = |name: &str| calls.iter().any(|(webhook, _)| *webhook == name);
    if webhooks_of(lab).all(|webhook| called(webhook.name)) {
        return;
    }
    let mut load_balancer = lab.load_balancer();
    lab.call(&healthz()).await;
    lab.call(&load_balancer.validate()).await;
    load_balancer.lb_info = match lab.until_done(&load_balancer.create()).await {
        Ok(reply) => reply.identity(&load_balancer.sample.lb_spec),
        Err(_) => load_balancer.sample.lb_spec.clone(),
    };
    lab.call(&load_balancer.ensure()).await;
    let mut backend = lab.backend(&load_balancer);
    let backend_type = lab.backend_types().first().copied().unwrap_or("Pod");
    let validate = validate_backend(&load_balancer, backend_type, &backend.parameters);
    lab.call(&validate).await;
    if backend.source != Source::Static {
        let reply = lab.call(&backend.generate()).await;
        let unknown = lab.fixture().backend.unknown_addr.as_str();
        backend.addr = reply.backend_addr().unwrap_or(unknown).to_owned();
    }
    lab.call(&backend.ensure()).await;
    lab.call(&backend.deregister()).await;
    lab.call(&load_balancer.delete()).await;
}
