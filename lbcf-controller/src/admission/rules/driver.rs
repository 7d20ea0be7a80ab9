//! LoadBalancerDriver (b53, b67 to b69, d11, d12).

use super::service_class::service_class;
use super::{Labels, has_prefix, is_system};
use crate::admission::denial::Denial;
use crate::admission::field_error::{FieldErrors, quoted};
use crate::api::allowed::{DRIVER_TYPE, MAX_TIMEOUT};
use crate::api::names::{LABEL_DRIVER_DRAINING, SYSTEM_NAMESPACE, SYSTEM_PREFIX, is_draining};
use crate::api::{LoadBalancerDriverSpec, ObjectKey, WebhookConfig, allowed};
use lbcf_driver_sdk::client::DriverClient;
use lbcf_driver_sdk::webhook::ALL;
use lbcf_serving::duration;
use std::collections::HashSet;

/// How many users of a driver a message lists.
const LISTED_USERS: usize = 5;

pub(in crate::admission) fn validate_driver(
    key: &ObjectKey,
    new: &LoadBalancerDriverSpec,
    old: Option<&LoadBalancerDriverSpec>,
) -> FieldErrors {
    let mut errors = format(key, new).introduced_since(old.map(|old| format(key, old)));
    if let Some(old) = old {
        let mutable = "webhooks, acceptDryRunCall and serviceClass can be changed";
        errors.immutable(
            "spec.driverType",
            &new.driver_type,
            &old.driver_type,
            mutable,
        );
        if new.url != old.url {
            let (new, old) = (redacted(&new.url), quoted(redacted(&old.url)));
            let problem = format!("field is immutable and has the value {old}; {mutable}");
            errors.invalid("spec.url", new, problem);
        }
    }
    errors
}

fn format(key: &ObjectKey, spec: &LoadBalancerDriverSpec) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if is_system(key) != has_prefix(key) {
        let must = if is_system(key) { "must" } else { "must not" };
        errors.invalid(
            "metadata.name",
            &key.name,
            format!(
                "{must} start with {SYSTEM_PREFIX:?} in namespace {}; drivers for all namespaces do, and are in {SYSTEM_NAMESPACE}",
                key.namespace
            ));
    }
    if spec.driver_type != DRIVER_TYPE {
        errors.invalid(
            "spec.driverType",
            &spec.driver_type,
            format!("must be {DRIVER_TYPE}"),
        );
    }
    if let Err(error) = DriverClient::check_url(&spec.url) {
        errors.push("spec.url", error.to_string());
    }
    let length = spec.url.chars().count();
    if length > allowed::URL {
        let most = allowed::URL;
        let problem = format!("has {length} characters; at most {most} are allowed");
        errors.push("spec.url", problem);
    }
    webhooks(&spec.webhooks, &mut errors);
    if let Some(class) = &spec.service_class {
        service_class(class, &mut errors);
    }
    errors
}

/// A URL without its credentials.
fn redacted(url: &str) -> String {
    DriverClient::check_url(url).unwrap_or_else(|error| error.to_string())
}

/// Known webhooks may be missing: a webhook that an upgrade added must not prevent older drivers from
/// being drained (u24).
fn webhooks(webhooks: &[WebhookConfig], errors: &mut FieldErrors) {
    let mut seen = HashSet::new();
    for (i, webhook) in webhooks.iter().enumerate() {
        let at = format!("spec.webhooks[{i}]");
        if !ALL.iter().any(|known| known.name == webhook.name) {
            let known: Vec<_> = ALL.iter().map(|known| known.name).collect();
            errors.invalid(
                format!("{at}.name"),
                &webhook.name,
                format!("must be one of {}", known.join(", ")),
            );
        } else if !seen.insert(webhook.name.as_str()) {
            errors.invalid(
                format!("{at}.name"),
                &webhook.name,
                allowed::IS_UNIQUE_WEBHOOK,
            );
        }
        if let Some(text) = &webhook.timeout {
            let field = format!("{at}.timeout");
            match duration::parse(text) {
                Ok(timeout) if !timeout.is_zero() && timeout <= MAX_TIMEOUT => {}
                Ok(_) => errors.invalid(field, text, allowed::IS_TIMEOUT),
                Err(error) => errors.push(field, error.to_string()),
            }
        }
    }
}

/// A driver is deleted after its users (u27), and accepts no new ones before.
pub(in crate::admission) fn validate_driver_deletion(
    key: &ObjectKey,
    labels: &Labels,
    users: &[String],
) -> Result<(), Denial> {
    let mut problems = Vec::new();
    if !is_draining(Some(labels)) {
        problems.push(format!(
            "it lacks the label {LABEL_DRIVER_DRAINING}: \"true\", which prevents new objects from using it"
        ));
    }
    if !users.is_empty() {
        let mut listed = users
            .iter()
            .take(LISTED_USERS)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if users.len() > LISTED_USERS {
            listed.push_str(&format!(" and {} more", users.len() - LISTED_USERS));
        }
        problems.push(format!(
            "{} using it and must be deleted first: {listed}",
            match users.len() {
                1 => "1 object is".to_owned(),
                n => format!("{n} objects are"),
            }
        ));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Denial::Forbidden(format!(
        "LoadBalancerDriver {key} cannot be deleted: {}",
        problems.join("; ")
    )))
}
