//! The policies that a Service's annotations set, as far as its class allows that. No I/O, no clock.

use crate::api::{ClassPolicy, EnsurePolicy, ServiceClass};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// The class with the policies of a Service. An annotation that sets none is a problem, and the class's own policy
/// applies.
pub(super) fn with_annotations(
    class: &ServiceClass,
    annotations: &BTreeMap<String, String>,
    problems: &mut Vec<String>,
) -> ServiceClass {
    let mut result = class.clone();
    for (annotation, policy) in &class.policy_annotations {
        let Some(value) = annotations.get(annotation) else {
            continue;
        };
        let (is_set, allowed) = match policy {
            ClassPolicy::EnsurePolicy => {
                let policy = named(value).map(|policy| EnsurePolicy {
                    policy,
                    ..class.ensure_policy.clone().unwrap_or_default()
                });
                let is_set = policy.is_some();
                result.ensure_policy = policy.or(result.ensure_policy);
                (is_set, "Always or IfNotSucc")
            }
            ClassPolicy::DeregisterPolicy => {
                let policy = named(value);
                result.deregister_policy = policy.or(result.deregister_policy);
                (policy.is_some(), "IfNotReady, IfNotRunning or Webhook")
            }
            ClassPolicy::MinRegistered => {
                let number = value.parse().ok().filter(|number| *number >= 0);
                result.min_registered = number.or(result.min_registered);
                (number.is_some(), "a number from 0 to 2147483647")
            }
        };
        if !is_set {
            problems.push(format!(
                "metadata.annotations[{annotation}]: {value:?} is not {allowed}"
            ));
        }
    }
    result
}

fn named<P: DeserializeOwned>(name: &str) -> Option<P> {
    serde_json::from_value(Value::from(name)).ok()
}
