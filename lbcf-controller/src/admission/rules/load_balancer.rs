//! LoadBalancer (b55, b56, b58, b72 to b74, d10).

use super::ensure_policy::ensure_policy;
use super::{has_prefix, is_system, reference, syntax};
use crate::admission::refusal::{Refusal, not_known_before, quoted};
use crate::api::LoadBalancerSpec;
use crate::key::ObjectKey;
use crate::names::{SYSTEM_NAMESPACE, SYSTEM_PREFIX};

/// Every namespace.
const ANY_NAMESPACE: &str = "*";

pub(in crate::admission) fn validate_load_balancer(
    key: &ObjectKey,
    new: &LoadBalancerSpec,
    old: Option<&LoadBalancerSpec>,
) -> Vec<Refusal> {
    let mut refusals = not_known_before(format(key, new), old.map(|old| format(key, old)));
    if let Some(old) = old {
        let what_can = "attributes, ensurePolicy and scope can";
        if new.lb_driver != old.lb_driver {
            refusals.push(Refusal::value(
                "spec.lbDriver",
                &new.lb_driver,
                format!(
                    "cannot be changed, it is {}; {what_can}",
                    quoted(&old.lb_driver)
                ),
            ));
        }
        if new.lb_spec != old.lb_spec {
            refusals.push(Refusal::value(
                "spec.lbSpec",
                &*new.lb_spec,
                format!(
                    "cannot be changed, it is {}; {what_can}",
                    quoted(&*old.lb_spec)
                ),
            ));
        }
    } else if has_prefix(key) && !is_system(key) {
        refusals.push(Refusal::value(
            "metadata.name",
            &key.name,
            format!("names that start with {SYSTEM_PREFIX:?} are for namespace {SYSTEM_NAMESPACE}"),
        ));
    }
    refusals
}

fn format(key: &ObjectKey, spec: &LoadBalancerSpec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    reference(&spec.lb_driver, "spec.lbDriver", &mut refusals);
    let may_be_shared = has_prefix(key) && is_system(key);
    if !spec.scope.is_empty() && !may_be_shared {
        refusals.push(Refusal::value(
            "spec.scope",
            &spec.scope,
            format!(
                "only for a load balancer whose name starts with {SYSTEM_PREFIX:?} in namespace {SYSTEM_NAMESPACE}; this one is {key}"
            ),
        ));
    }
    for (i, namespace) in spec.scope.iter().enumerate() {
        if namespace != ANY_NAMESPACE && !syntax::is_dns_label(namespace) {
            refusals.push(Refusal::value(
                format!("spec.scope[{i}]"),
                namespace,
                format!(
                    "must be {ANY_NAMESPACE} or a namespace, which {}",
                    syntax::DNS_LABEL
                ),
            ));
        }
    }
    ensure_policy(spec.ensure_policy.as_ref(), &mut refusals);
    refusals
}
