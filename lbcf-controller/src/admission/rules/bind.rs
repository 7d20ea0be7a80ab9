//! Bind (b93 to b96, d13, d14, d77).

use super::ensure_policy::bind_ensure_policy;
use super::pods::{ProtocolCase, pods};
use super::service::service;
use super::{deregister_webhook, reference, sizes};
use crate::admission::field_error::{FieldErrors, quoted};
use crate::admission::object::Spec;
use crate::api::{BindSpec, StringMap, TargetLoadBalancer, allowed, syntax};
use std::collections::HashSet;

pub(in crate::admission) fn validate_bind(
    new: &Spec<BindSpec>,
    old: Option<&Spec<BindSpec>>,
) -> FieldErrors {
    let mut errors = format(new).introduced_since(old.map(format));
    if let Some(old) = old {
        for (i, lb) in new.read.load_balancers.iter().enumerate() {
            let before = old
                .read
                .load_balancers
                .iter()
                .find(|old| old.name == lb.name);
            if let Some(before) = before {
                identity(lb, before, &format!("spec.loadBalancers[{i}]"), &mut errors);
            }
        }
    }
    errors
}

/// d13: another driver or spec means another load balancer, which needs another name.
fn identity(
    new: &TargetLoadBalancer,
    old: &TargetLoadBalancer,
    at: &str,
    errors: &mut FieldErrors,
) {
    let name = quoted(&new.name);
    let hint = format!("change the attributes of {name}, or add a load balancer of another name");
    errors.immutable(format!("{at}.driver"), &new.driver, &old.driver, &hint);
    errors.immutable(format!("{at}.spec"), &*new.spec, &*old.spec, &hint);
}

fn format(Spec { raw, read: spec }: &Spec<BindSpec>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if spec.load_balancers.is_empty() {
        errors.push("spec.loadBalancers", allowed::NEEDS_TARGET);
    }
    let mut seen = HashSet::new();
    for (i, lb) in spec.load_balancers.iter().enumerate() {
        let at = format!("spec.loadBalancers[{i}]");
        if !syntax::is_dns_label(&lb.name) {
            errors.invalid(format!("{at}.name"), &lb.name, allowed::IS_DNS_LABEL);
        } else if !seen.insert(lb.name.as_str()) {
            errors.invalid(format!("{at}.name"), &lb.name, allowed::IS_UNIQUE_NAME);
        }
        reference(&lb.driver, &format!("{at}.driver"), &mut errors);
        if lb.spec.is_empty() {
            errors.push(format!("{at}.spec"), allowed::NEEDS_SPEC);
        }
        sizes::driver_map(&lb.spec, &format!("{at}.spec"), &mut errors);
        sizes::driver_map(&lb.attributes, &format!("{at}.attributes"), &mut errors);
    }
    total_size(&spec.load_balancers, &mut errors);
    sizes::driver_map(&spec.parameters, "spec.parameters", &mut errors);
    match (&spec.pods, &spec.service) {
        (None, None) => errors.push("spec", allowed::NEEDS_PODS_OR_SERVICE),
        (Some(_), Some(_)) => {
            errors.invalid("spec", ["pods", "service"], allowed::PODS_OR_SERVICE);
        }
        _ => {}
    }
    if let Some(selection) = &spec.pods {
        pods(selection, raw.get("pods"), ProtocolCase::Any, &mut errors);
    }
    if let Some(service) = &spec.service {
        self::service(service, &mut errors);
    }
    deregister_webhook(
        spec.deregister_policy,
        spec.deregister_webhook.as_ref(),
        &mut errors,
    );
    bind_ensure_policy(spec.ensure_policy.as_ref(), &mut errors);
    errors
}

/// The status has a copy of all of them.
fn total_size(lbs: &[TargetLoadBalancer], errors: &mut FieldErrors) {
    let field = "spec.loadBalancers";
    sizes::count(lbs.len(), allowed::LOAD_BALANCERS, field, errors);
    let maps = lbs.iter().flat_map(|lb| [&lb.spec, &lb.attributes]);
    let length = maps.map(StringMap::length).sum();
    let what = "the keys and values of spec and attributes";
    sizes::total(length, allowed::BIND_MAPS, what, field, errors);
}
