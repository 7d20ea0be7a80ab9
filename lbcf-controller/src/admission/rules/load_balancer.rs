//! LoadBalancer (b55, b56, b58, b72 to b74, d10).

use super::ensure_policy::ensure_policy;
use super::{has_prefix, is_system, reference, sizes};
use crate::admission::field_error::FieldErrors;
use crate::api::names::{SYSTEM_NAMESPACE, SYSTEM_PREFIX};
use crate::api::{LoadBalancerSpec, ObjectKey, allowed, syntax};

pub(in crate::admission) fn validate_load_balancer(
    key: &ObjectKey,
    new: &LoadBalancerSpec,
    old: Option<&LoadBalancerSpec>,
) -> FieldErrors {
    let mut errors = format(key, new).introduced_since(old.map(|old| format(key, old)));
    if let Some(old) = old {
        let mutable = "attributes, ensurePolicy and scope can be changed";
        errors.immutable("spec.lbDriver", &new.lb_driver, &old.lb_driver, mutable);
        errors.immutable("spec.lbSpec", &*new.lb_spec, &*old.lb_spec, mutable);
    } else if has_prefix(key) && !is_system(key) {
        errors.invalid(
            "metadata.name",
            &key.name,
            format!("names that start with {SYSTEM_PREFIX:?} are reserved for namespace {SYSTEM_NAMESPACE}"));
    }
    errors
}

fn format(key: &ObjectKey, spec: &LoadBalancerSpec) -> FieldErrors {
    let mut errors = FieldErrors::default();
    reference(&spec.lb_driver, "spec.lbDriver", &mut errors);
    let may_be_shared = has_prefix(key) && is_system(key);
    if !spec.scope.is_empty() && !may_be_shared {
        errors.invalid(
            "spec.scope",
            &spec.scope,
            format!(
                "only allowed where the name starts with {SYSTEM_PREFIX:?} and the namespace is {SYSTEM_NAMESPACE}; this is {key}"
            ));
    }
    for (i, namespace) in spec.scope.iter().enumerate() {
        if namespace != "*" && !syntax::is_dns_label(namespace) {
            errors.invalid(
                format!("spec.scope[{i}]"),
                namespace,
                format!(
                    "must be * or the name of a namespace, which {}",
                    allowed::IS_DNS_LABEL
                ),
            );
        }
    }
    sizes::texts(&spec.scope, allowed::NAMES, "spec.scope", &mut errors);
    sizes::driver_map(&spec.lb_spec, "spec.lbSpec", &mut errors);
    sizes::driver_map(&spec.attributes, "spec.attributes", &mut errors);
    ensure_policy(spec.ensure_policy.as_ref(), &mut errors);
    errors
}
