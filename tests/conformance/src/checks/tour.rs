//! The exchanges for checks of the whole run, with at least one call of each webhook.

use super::prelude::*;
use super::{jpd, lst};
use lbcf_driver_sdk::webhook::{Obligation, WebhookInfo};

/// The webhooks of this driver: the nine that every driver has (b12), and judgePodDeregister and
/// listBackends if its features name them.
pub(in crate::checks) fn webhooks(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    lbcf_driver_sdk::webhook::ALL
        .iter()
        .filter(|webhook| match webhook.obligation {
            Obligation::Mandatory | Obligation::Optional => true,
            Obligation::OnRequest => lab.has(Feature::JudgePodDeregister),
            Obligation::Listed => lab.has(Feature::ListBackends),
        })
}

/// The webhooks that controllers call for this driver: the address of a static backend is not
/// generated.
pub(in crate::checks) fn called_webhooks(lab: &Lab) -> impl Iterator<Item = &'static WebhookInfo> {
    let generates = lab.generates_addresses();
    webhooks(lab).filter(move |webhook| generates || webhook.name != "generateBackendAddr")
}

/// The valid webhook calls of the run.
pub(in crate::checks) fn valid_calls(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    lab.record()
        .into_iter()
        .filter(|exchange| exchange.kind == RequestKind::Valid)
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect()
}

/// Calls each webhook of the driver, unless the run already called all of them. The calls may fail.
pub(in crate::checks) async fn call_all_webhooks(lab: &Lab) {
    let calls = valid_calls(lab);
    let called = |name: &str| calls.iter().any(|(webhook, _)| *webhook == name);
    if called_webhooks(lab).all(|webhook| called(webhook.name)) {
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
    if lab.has(Feature::ListBackends) {
        lab.call(&lst::list(lab, &load_balancer.lb_info)).await;
    }
    if lab.has(Feature::JudgePodDeregister) {
        lab.call(&jpd::judge(&jpd::not_ready(lab))).await;
    }
    lab.call(&backend.deregister()).await;
    lab.call(&load_balancer.delete()).await;
}
