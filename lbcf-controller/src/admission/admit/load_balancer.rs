//! LoadBalancer (b72 to b78).

use super::Change;
use crate::admission::ask::{Asking, NotPassed};
use crate::admission::known::Known;
use crate::admission::refusal::{Denial, unless_none};
use crate::admission::rules::validate_load_balancer;
use crate::api::LoadBalancerSpec;
use lbcf_driver_sdk::webhook::{Operation, ValidateLoadBalancer, ValidateLoadBalancerRequest};

const DRIVER_FIELD: &str = "spec.lbDriver";

pub(super) async fn stored<S: Known>(
    change: &Change<LoadBalancerSpec>,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    let new = &change.new.read;
    let old = change.old.as_ref().map(|old| &old.read);
    unless_none(&validate_load_balancer(&change.key, new, old))?;

    let namespace = &change.key.namespace;
    let driver = if change.is_new() {
        ask.driver_for_new(DRIVER_FIELD, namespace, &new.lb_driver)
            .await?
    } else if old.is_some_and(|old| old.attributes == new.attributes) {
        return Ok(()); // The driver sees nothing of what changed.
    } else {
        ask.driver(DRIVER_FIELD, namespace, &new.lb_driver).await?
    };
    let request = ValidateLoadBalancerRequest {
        dry_run: ask.rehearses(),
        lb_spec: new.lb_spec.to_wire(),
        operation: if change.is_new() {
            Operation::Create
        } else {
            Operation::Update
        },
        attributes: new.attributes.to_wire(),
        old_attributes: old.map(|old| old.attributes.to_wire()).unwrap_or_default(),
    };
    // Clients look for these texts (b78).
    ask.verdict::<ValidateLoadBalancer>(&driver, &request)
        .await
        .map_err(|not_passed| match not_passed {
            NotPassed::NoAnswer(error) => Denial::Unknown(format!(
                "call webhook error, webhook: validateLoadBalancer, err: {error}"
            )),
            NotPassed::Refused(message) => {
                Denial::Refused(format!("invalid LoadBalancer: {message}"))
            }
        })
}
