//! BackendGroup (b21, b79 to b82, d21).

use super::ensure_policy::ensure_policy;
use super::pods::{ProtocolCase, labels, pods, port};
use super::{deregister_webhook, reference};
use crate::admission::refusal::{Refusal, not_known_before};
use crate::api::BackendGroupSpec;
use lbcf_driver_sdk::webhook::BackendType;
use serde_json::Value;

/// The kind of a group's backends; none where it has none. Pods are looked for first, then a
/// service (b21).
pub(in crate::admission) fn backend_type(spec: &BackendGroupSpec) -> Option<BackendType> {
    if spec.pods.is_some() {
        Some(BackendType::Pod)
    } else if spec.service.is_some() {
        Some(BackendType::Service)
    } else if spec.static_addresses.is_empty() {
        None
    } else {
        Some(BackendType::Static)
    }
}

/// `raw` are the specs as they were written.
pub(in crate::admission) fn validate_backend_group(
    (new, raw): (&BackendGroupSpec, &Value),
    old: Option<(&BackendGroupSpec, &Value)>,
) -> Vec<Refusal> {
    let mut refusals = not_known_before(format(new, raw), old.map(|(old, raw)| format(old, raw)));
    match old {
        None => {
            if backend_type(new).is_none() {
                refusals.push(Refusal::field(
                    "spec",
                    "names no backends; one of pods, service and static has to be there",
                ));
            }
        }
        Some((old, _)) => change(new, old, &mut refusals),
    }
    refusals
}

/// Taking the last address or the last pod's name away leaves a group without backends, which is
/// what was meant. A group that never had any may get some.
fn change(new: &BackendGroupSpec, old: &BackendGroupSpec, refusals: &mut Vec<Refusal>) {
    let (was, is) = (backend_type(old), backend_type(new));
    let is_emptied = is.is_none() && was == Some(BackendType::Static);
    if let Some(was) = was
        && is.as_ref() != Some(&was)
        && !is_emptied
    {
        refusals.push(Refusal::value(
            "spec",
            is.map_or("none", type_name),
            format!(
                "the kind of backends cannot be changed, it is {:?}; make a new group",
                type_name(was)
            ),
        ));
    }
    let were_named = |spec: &BackendGroupSpec| {
        spec.pods
            .as_ref()
            .is_some_and(|pods| pods.by_label.is_none())
    };
    if were_named(old) && were_named(new) {
        refusals.retain(|refusal| !refusal.is_about("spec.pods"));
    }
}

fn type_name(backend_type: BackendType) -> &'static str {
    match backend_type {
        BackendType::Pod => "pods",
        BackendType::Service => "service",
        _ => "static",
    }
}

fn format(spec: &BackendGroupSpec, raw: &Value) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    load_balancers(spec, &mut refusals);
    at_most_one_kind(spec, &mut refusals);
    if let Some(selection) = &spec.pods {
        pods(
            selection,
            raw.get("pods"),
            ProtocolCase::Capitals,
            &mut refusals,
        );
    }
    if let Some(service) = &spec.service {
        reference(&service.name, "spec.service.name", &mut refusals);
        port(
            &service.port,
            "spec.service.port",
            ProtocolCase::Capitals,
            &mut refusals,
        );
        labels(
            &service.node_selector,
            "spec.service.nodeSelector",
            &mut refusals,
        );
    }
    for (i, address) in spec.static_addresses.iter().enumerate() {
        if address.trim().is_empty() {
            refusals.push(Refusal::value(
                format!("spec.static[{i}]"),
                address,
                "must be an address that the driver understands, such as 1.1.1.1:8080",
            ));
        }
    }
    deregister_webhook(
        spec.deregister_policy,
        spec.deregister_webhook.as_ref(),
        &mut refusals,
    );
    ensure_policy(spec.ensure_policy.as_ref(), &mut refusals);
    refusals
}

fn load_balancers(spec: &BackendGroupSpec, refusals: &mut Vec<Refusal>) {
    if spec.load_balancer_names().next().is_none() {
        refusals.push(Refusal::field(
            "spec.loadBalancers",
            "names no load balancer; write for example loadBalancers: [my-load-balancer]",
        ));
    }
    for (i, name) in spec.load_balancers.iter().enumerate() {
        reference(name, &format!("spec.loadBalancers[{i}]"), refusals);
    }
}

fn at_most_one_kind(spec: &BackendGroupSpec, refusals: &mut Vec<Refusal>) {
    let kinds: Vec<&str> = [
        ("pods", spec.pods.is_some()),
        ("service", spec.service.is_some()),
        ("static", !spec.static_addresses.is_empty()),
    ]
    .into_iter()
    .filter_map(|(kind, is_there)| is_there.then_some(kind))
    .collect();
    if kinds.len() > 1 {
        refusals.push(Refusal::value(
            "spec",
            kinds,
            "only one of pods, service and static can be there",
        ));
    }
}
