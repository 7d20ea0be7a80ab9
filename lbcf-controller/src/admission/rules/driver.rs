//! LoadBalancerDriver (b53, b67 to b69, d11, d12).

use super::{Labels, has_prefix, is_draining, is_system};
use crate::admission::refusal::{Denial, Refusal, not_known_before, quoted};
use crate::api::{LoadBalancerDriverSpec, WebhookConfig};
use crate::go_duration;
use crate::key::ObjectKey;
use crate::names::{LABEL_DRIVER_DRAINING, SYSTEM_NAMESPACE, SYSTEM_PREFIX};
use lbcf_driver_sdk::client::DriverClient;
use lbcf_driver_sdk::webhook::ALL;
use std::collections::HashSet;
use std::time::Duration;

/// The only way there is to reach a driver.
const DRIVER_TYPE: &str = "Webhook";
const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// How many of those who use a driver are named.
const TOLD_USERS: usize = 5;

pub(in crate::admission) fn validate_driver(
    key: &ObjectKey,
    new: &LoadBalancerDriverSpec,
    old: Option<&LoadBalancerDriverSpec>,
) -> Vec<Refusal> {
    let mut refusals = not_known_before(format(key, new), old.map(|old| format(key, old)));
    if let Some(old) = old {
        let what_can = "webhooks and acceptDryRunCall can";
        if new.driver_type != old.driver_type {
            refusals.push(Refusal::value(
                "spec.driverType",
                &new.driver_type,
                format!(
                    "cannot be changed, it is {}; {what_can}",
                    quoted(&old.driver_type)
                ),
            ));
        }
        if new.url != old.url {
            refusals.push(Refusal::value(
                "spec.url",
                shown(&new.url),
                format!(
                    "cannot be changed, it is {}; {what_can}",
                    quoted(shown(&old.url))
                ),
            ));
        }
    }
    refusals
}

fn format(key: &ObjectKey, spec: &LoadBalancerDriverSpec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if is_system(key) != has_prefix(key) {
        let must = if is_system(key) { "must" } else { "must not" };
        refusals.push(Refusal::value(
            "metadata.name",
            &key.name,
            format!(
                "{must} start with {SYSTEM_PREFIX:?} in namespace {}; drivers of the whole cluster do, and live in {SYSTEM_NAMESPACE}",
                key.namespace
            ),
        ));
    }
    if spec.driver_type != DRIVER_TYPE {
        refusals.push(Refusal::value(
            "spec.driverType",
            &spec.driver_type,
            format!("must be {DRIVER_TYPE}"),
        ));
    }
    if let Err(error) = DriverClient::check_url(&spec.url) {
        refusals.push(Refusal::field("spec.url", error.to_string()));
    }
    webhooks(&spec.webhooks, &mut refusals);
    refusals
}

/// A URL without what is secret in it.
fn shown(url: &str) -> String {
    DriverClient::check_url(url).unwrap_or_else(|error| error.to_string())
}

/// Not every known webhook has to be named: one that came with an upgrade must not keep old
/// drivers from being drained (u24).
fn webhooks(webhooks: &[WebhookConfig], refusals: &mut Vec<Refusal>) {
    let mut seen = HashSet::new();
    for (i, webhook) in webhooks.iter().enumerate() {
        let at = format!("spec.webhooks[{i}]");
        if !ALL.iter().any(|known| known.name == webhook.name) {
            let known: Vec<_> = ALL.iter().map(|known| known.name).collect();
            refusals.push(Refusal::value(
                format!("{at}.name"),
                &webhook.name,
                format!("must be one of {}", known.join(", ")),
            ));
        } else if !seen.insert(webhook.name.as_str()) {
            refusals.push(Refusal::value(
                format!("{at}.name"),
                &webhook.name,
                "named twice; each webhook may be named once",
            ));
        }
        if let Some(text) = &webhook.timeout {
            let field = format!("{at}.timeout");
            match go_duration::parse(text) {
                Ok(timeout) if !timeout.is_zero() && timeout <= MAX_TIMEOUT => {}
                Ok(_) => refusals.push(Refusal::value(
                    field,
                    text,
                    "must be more than 0 and at most 1m",
                )),
                Err(error) => refusals.push(Refusal::field(field, error.to_string())),
            }
        }
    }
}

/// A driver goes last. In a namespace that goes nobody new can use it, so that it need not be
/// drained; it still has to be there until all that uses it is gone (u27).
pub(in crate::admission) fn validate_driver_deletion(
    key: &ObjectKey,
    labels: &Labels,
    users: &[String],
    with_its_namespace: bool,
) -> Result<(), Denial> {
    let mut problems = Vec::new();
    if !with_its_namespace && !is_draining(Some(labels)) {
        problems.push(format!(
            "the label {LABEL_DRIVER_DRAINING}: \"true\" is missing, which keeps others from starting to use it"
        ));
    }
    if !users.is_empty() {
        let mut told = users
            .iter()
            .take(TOLD_USERS)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if users.len() > TOLD_USERS {
            told.push_str(&format!(" and {} more", users.len() - TOLD_USERS));
        }
        problems.push(format!(
            "{} using it and have to be deleted first: {told}",
            match users.len() {
                1 => "1 object is".to_owned(),
                n => format!("{n} objects are"),
            }
        ));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Denial::Refused(format!(
        "LoadBalancerDriver {key} is not deleted: {}",
        problems.join("; ")
    )))
}
