//! Validation rules: pure functions from an object to be stored, and the one that it replaces, to field
//! errors.
//!
//! All errors of an object are reported at once, except those that the replaced object has too: the
//! rules are stricter than the original's, and objects that it accepted stay changeable.

mod backend_group;
mod bind;
mod driver;
mod ensure_policy;
mod load_balancer;
mod pods;
mod service;
mod service_class;
mod sizes;

pub(super) use backend_group::{backend_type_on_the_wire, validate_backend_group};
pub(super) use bind::validate_bind;
pub(super) use driver::{validate_driver, validate_driver_deletion};
pub(super) use load_balancer::validate_load_balancer;

use super::denial::Denial;
use super::field_error::FieldErrors;
use crate::api::{DeregisterPolicy, DeregisterWebhook, ObjectKey, allowed, names, syntax};
use std::collections::BTreeMap;

pub(super) type Labels = BTreeMap<String, String>;

/// b76, b86: the label protects an object, whatever the label's value.
pub(super) fn validate_deletion(
    kind: &str,
    key: &ObjectKey,
    labels: &Labels,
) -> Result<(), Denial> {
    let label = names::LABEL_DO_NOT_DELETE;
    if labels.contains_key(label) {
        return Err(Denial::Forbidden(format!(
            "{kind} {key} has the label {label} and cannot be deleted; remove the label first"
        )));
    }
    Ok(())
}

/// b53, b55: the system namespace and the prefix of names belong together.
fn is_system(key: &ObjectKey) -> bool {
    *key.namespace == *names::SYSTEM_NAMESPACE
}

fn has_prefix(key: &ObjectKey) -> bool {
    key.name.starts_with(names::SYSTEM_PREFIX)
}

fn reference(name: &str, field: &str, errors: &mut FieldErrors) {
    if !syntax::is_object_name(name) {
        errors.invalid(field, name, allowed::IS_OBJECT_NAME);
    }
}

/// b79: the policy Webhook requires a driver.
fn deregister_webhook(
    policy: Option<DeregisterPolicy>,
    webhook: Option<&DeregisterWebhook>,
    errors: &mut FieldErrors,
) {
    if policy != Some(DeregisterPolicy::Webhook) {
        return;
    }
    match webhook {
        None => errors.push(
            "spec.deregisterWebhook",
            "required with spec.deregisterPolicy Webhook, as in deregisterWebhook: {driverName: my-driver}"),
        Some(webhook) => reference(
            &webhook.driver_name,
            "spec.deregisterWebhook.driverName",
            errors,
        ),
    }
}

#[cfg(test)]
mod tests;
