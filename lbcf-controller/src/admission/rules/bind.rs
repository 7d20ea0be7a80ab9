//! Bind (b93 to b96, d13, d14).

use super::ensure_policy::bind_ensure_policy;
use super::pods::{ProtocolCase, pods};
use super::{deregister_webhook, reference, syntax};
use crate::admission::refusal::{Refusal, not_known_before, quoted};
use crate::api::{BindSpec, TargetLoadBalancer};
use serde_json::Value;
use std::collections::HashSet;

/// `raw` are the specs as they were written.
pub(in crate::admission) fn validate_bind(
    (new, raw): (&BindSpec, &Value),
    old: Option<(&BindSpec, &Value)>,
) -> Vec<Refusal> {
    let mut refusals = not_known_before(format(new, raw), old.map(|(old, raw)| format(old, raw)));
    if let Some((old, _)) = old {
        for (i, lb) in new.load_balancers.iter().enumerate() {
            let before = old.load_balancers.iter().find(|old| old.name == lb.name);
            if let Some(before) = before {
                identity(
                    lb,
                    before,
                    &format!("spec.loadBalancers[{i}]"),
                    &mut refusals,
                );
            }
        }
    }
    refusals
}

/// d13. Another driver or spec is another load balancer, and needs another name.
fn identity(
    new: &TargetLoadBalancer,
    old: &TargetLoadBalancer,
    at: &str,
    refusals: &mut Vec<Refusal>,
) {
    let why = |old: String| {
        format!(
            "cannot be changed for load balancer {}, it is {old}; attributes can, or add one of another name",
            quoted(&new.name)
        )
    };
    if new.driver != old.driver {
        refusals.push(Refusal::value(
            format!("{at}.driver"),
            &new.driver,
            why(quoted(&old.driver)),
        ));
    }
    if new.spec != old.spec {
        refusals.push(Refusal::value(
            format!("{at}.spec"),
            &*new.spec,
            why(quoted(&*old.spec)),
        ));
    }
}

fn format(spec: &BindSpec, raw: &Value) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if spec.load_balancers.is_empty() {
        refusals.push(Refusal::field(
            "spec.loadBalancers",
            "names no load balancer; write for example loadBalancers: [{name: my-lb, driver: my-driver, spec: {id: lb-1}}]",
        ));
    }
    let mut seen = HashSet::new();
    for (i, lb) in spec.load_balancers.iter().enumerate() {
        let at = format!("spec.loadBalancers[{i}]");
        if !syntax::is_dns_label(&lb.name) {
            refusals.push(Refusal::value(
                format!("{at}.name"),
                &lb.name,
                syntax::DNS_LABEL,
            ));
        } else if !seen.insert(lb.name.as_str()) {
            refusals.push(Refusal::value(
                format!("{at}.name"),
                &lb.name,
                "named twice; each load balancer of a Bind needs a name of its own",
            ));
        }
        reference(&lb.driver, &format!("{at}.driver"), &mut refusals);
        if lb.spec.is_empty() {
            refusals.push(Refusal::field(
                format!("{at}.spec"),
                "is empty; it says which load balancer is meant, or what one is made from",
            ));
        }
    }
    pods(
        &spec.pods,
        raw.get("pods"),
        ProtocolCase::Any,
        &mut refusals,
    );
    deregister_webhook(
        spec.deregister_policy,
        spec.deregister_webhook.as_ref(),
        &mut refusals,
    );
    bind_ensure_policy(spec.ensure_policy.as_ref(), &mut refusals);
    refusals
}
