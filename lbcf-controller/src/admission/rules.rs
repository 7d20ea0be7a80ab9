//! Every rule that a single object can be held against: pure functions from what somebody wants to
//! store, and what is stored, to what is wrong with it.
//!
//! All faults of an object are found at once. Those that it had before are not told again: rules
//! are stricter than the original's, and what it let pass must stay changeable.

mod backend_group;
mod bind;
mod driver;
mod ensure_policy;
mod load_balancer;
mod pods;
pub(super) mod syntax;

pub(super) use backend_group::{backend_type, validate_backend_group};
pub(super) use bind::validate_bind;
pub(super) use driver::{validate_driver, validate_driver_deletion};
pub(super) use load_balancer::validate_load_balancer;

use super::refusal::{Denial, Refusal};
use crate::api::{DeregisterPolicy, DeregisterWebhook};
use crate::key::ObjectKey;
use crate::names;
use std::collections::BTreeMap;

/// Labels of an object.
pub(super) type Labels = BTreeMap<String, String>;

/// b76, b86: an object with the label stays, whatever the label's value.
pub(super) fn validate_deletion(
    kind: &str,
    key: &ObjectKey,
    labels: &Labels,
) -> Result<(), Denial> {
    let label = names::LABEL_DO_NOT_DELETE;
    if labels.contains_key(label) {
        return Err(Denial::Refused(format!(
            "{kind} {key} has the label {label} and is not deleted; remove the label first"
        )));
    }
    Ok(())
}

/// b13: any letter case; another value or none is no.
pub(super) fn is_draining(labels: Option<&Labels>) -> bool {
    labels
        .and_then(|labels| labels.get(names::LABEL_DRIVER_DRAINING))
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// b53, b55: the prefix and the namespace of the system belong together.
fn is_system(key: &ObjectKey) -> bool {
    key.namespace == names::SYSTEM_NAMESPACE
}

fn has_prefix(key: &ObjectKey) -> bool {
    key.name.starts_with(names::SYSTEM_PREFIX)
}

/// A reference to another object.
fn reference(name: &str, field: &str, refusals: &mut Vec<Refusal>) {
    if !syntax::is_object_name(name) {
        refusals.push(Refusal::value(field, name, syntax::OBJECT_NAME));
    }
}

/// b79: policy Webhook asks a driver, which has to be named.
fn deregister_webhook(
    policy: Option<DeregisterPolicy>,
    webhook: Option<&DeregisterWebhook>,
    refusals: &mut Vec<Refusal>,
) {
    if policy != Some(DeregisterPolicy::Webhook) {
        return;
    }
    match webhook {
        None => refusals.push(Refusal::field(
            "spec.deregisterWebhook",
            "missing; spec.deregisterPolicy Webhook needs the name of a LoadBalancerDriver, as in deregisterWebhook: {driverName: my-driver}",
        )),
        Some(webhook) => reference(
            &webhook.driver_name,
            "spec.deregisterWebhook.driverName",
            refusals,
        ),
    }
}

#[cfg(test)]
mod tests;
