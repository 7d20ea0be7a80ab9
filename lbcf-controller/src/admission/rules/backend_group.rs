//! BackendGroup (b21, b79 to b82, d21).

use super::ensure_policy::ensure_policy;
use super::pods::{ProtocolCase, pods};
use super::service::service;
use super::{deregister_webhook, reference, sizes};
use crate::admission::field_error::FieldErrors;
use crate::admission::object::Spec;
use crate::api::{BackendGroupSpec, PodSelection, ServiceMode, ServiceSelection, allowed};
use lbcf_driver_sdk::webhook::BackendType;

/// The type of a group's backends; pods take precedence, then a service (b21).
fn backend_type(spec: &BackendGroupSpec) -> Option<BackendType> {
    let is_static = !spec.static_addresses.is_empty();
    type_of(spec.pods.as_ref(), spec.service.as_ref())
        .or_else(|| is_static.then_some(BackendType::Static))
}

fn type_of(pods: Option<&PodSelection>, service: Option<&ServiceSelection>) -> Option<BackendType> {
    let pods = pods.map(|_| BackendType::Pod);
    pods.or_else(|| service.map(|_| BackendType::Service))
}

/// The type that a driver receives: endpoints are reached at addresses of their own, as pods are, and drivers
/// know no fourth type (d66).
pub(in crate::admission) fn backend_type_on_the_wire(
    pods: Option<&PodSelection>,
    service: Option<&ServiceSelection>,
) -> Option<BackendType> {
    match (type_of(pods, service), service.map(ServiceSelection::mode)) {
        (Some(BackendType::Service), Some(ServiceMode::Endpoints)) => Some(BackendType::Pod),
        (other, _) => other,
    }
}

pub(in crate::admission) fn validate_backend_group(
    new: &Spec<BackendGroupSpec>,
    old: Option<&Spec<BackendGroupSpec>>,
) -> FieldErrors {
    let mut errors = format(new).introduced_since(old.map(format));
    match old {
        None if backend_type(&new.read).is_none() => {
            errors.push("spec", allowed::NEEDS_BACKENDS);
        }
        None => {}
        Some(old) => change(&new.read, &old.read, &mut errors),
    }
    errors
}

/// Removing the last address or the last pod's name leaves a group without backends, which is
/// allowed; so is adding backends to a group without any.
fn change(new: &BackendGroupSpec, old: &BackendGroupSpec, errors: &mut FieldErrors) {
    let (was, is) = (backend_type(old), backend_type(new));
    let is_emptied = is.is_none() && was == Some(BackendType::Static);
    if let Some(was) = was
        && is.as_ref() != Some(&was)
        && !is_emptied
    {
        errors.invalid(
            "spec",
            is.map_or("none", type_name),
            format!(
                "the type of backends cannot be changed from {:?}; create a new BackendGroup",
                type_name(was)
            ),
        );
    }
    let is_by_name = |spec: &BackendGroupSpec| {
        spec.pods
            .as_ref()
            .is_some_and(|pods| pods.by_label.is_none())
    };
    if is_by_name(old) && is_by_name(new) {
        errors.ignore("spec.pods");
    }
}

fn type_name(backend_type: BackendType) -> &'static str {
    match backend_type {
        BackendType::Pod => "pods",
        BackendType::Service => "service",
        _ => "static",
    }
}

fn format(Spec { raw, read: spec }: &Spec<BackendGroupSpec>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    load_balancers(spec, &mut errors);
    at_most_one_kind(spec, &mut errors);
    if let Some(selection) = &spec.pods {
        pods(selection, raw.get("pods"), ProtocolCase::Upper, &mut errors);
    }
    if let Some(service) = &spec.service {
        self::service(service, &mut errors);
    }
    for (i, address) in spec.static_addresses.iter().enumerate() {
        if address.trim().is_empty() {
            errors.invalid(format!("spec.static[{i}]"), address, allowed::IS_ADDRESS);
        }
        let field = format!("spec.static[{i}]");
        sizes::length(address, allowed::ADDRESS, &field, &mut errors);
    }
    let addresses = &spec.static_addresses;
    sizes::texts(addresses, allowed::ADDRESSES, "spec.static", &mut errors);
    sizes::driver_map(&spec.parameters, "spec.parameters", &mut errors);
    deregister_webhook(
        spec.deregister_policy,
        spec.deregister_webhook.as_ref(),
        &mut errors,
    );
    ensure_policy(spec.ensure_policy.as_ref(), &mut errors);
    errors
}

fn load_balancers(spec: &BackendGroupSpec, errors: &mut FieldErrors) {
    if spec.load_balancer_names().next().is_none() {
        errors.push("spec.loadBalancers", allowed::NEEDS_LOAD_BALANCER);
    }
    sizes::count(
        spec.load_balancers.len(),
        allowed::LOAD_BALANCERS,
        "spec.loadBalancers",
        errors,
    );
    for (i, name) in spec.load_balancers.iter().enumerate() {
        reference(name, &format!("spec.loadBalancers[{i}]"), errors);
    }
}

fn at_most_one_kind(spec: &BackendGroupSpec, errors: &mut FieldErrors) {
    let kinds: Vec<&str> = [
        ("pods", spec.pods.is_some()),
        ("service", spec.service.is_some()),
        ("static", !spec.static_addresses.is_empty()),
    ]
    .into_iter()
    .filter_map(|(kind, is_set)| is_set.then_some(kind))
    .collect();
    if kinds.len() > 1 {
        errors.invalid("spec", kinds, allowed::ONE_KIND);
    }
}
