//! Bind (b93 to b96, d13, d14).

use super::ensure_policy::bind_ensure_policy;
use super::pods::{ProtocolCase, pods};
use super::{deregister_webhook, reference, syntax};
use crate::admission::field_error::{FieldErrors, quoted};
use crate::admission::object::Spec;
use crate::api::{BindSpec, TargetLoadBalancer};
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
        errors.push(
            "spec.loadBalancers",
            "at least one is required, as in loadBalancers: [{name: my-lb, driver: my-driver, spec: {id: lb-1}}]");
    }
    let mut seen = HashSet::new();
    for (i, lb) in spec.load_balancers.iter().enumerate() {
        let at = format!("spec.loadBalancers[{i}]");
        if !syntax::is_dns_label(&lb.name) {
            errors.invalid(format!("{at}.name"), &lb.name, syntax::DNS_LABEL);
        } else if !seen.insert(lb.name.as_str()) {
            errors.invalid(
                format!("{at}.name"),
                &lb.name,
                "duplicate; names must be unique within a Bind",
            );
        }
        reference(&lb.driver, &format!("{at}.driver"), &mut errors);
        if lb.spec.is_empty() {
            errors.push(
                format!("{at}.spec"),
                "required; it identifies a load balancer or describes the one to create",
            );
        }
    }
    pods(&spec.pods, raw.get("pods"), ProtocolCase::Any, &mut errors);
    deregister_webhook(
        spec.deregister_policy,
        spec.deregister_webhook.as_ref(),
        &mut errors,
    );
    bind_ensure_policy(spec.ensure_policy.as_ref(), &mut errors);
    errors
}
