//! LoadBalancer.

use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::Denial;
use crate::admission::object::ObjectChange;
use crate::admission::rules::validate_load_balancer;
use crate::admission::validation_context::ValidationContext;
use crate::api::LoadBalancerSpec;
use lbcf_driver_sdk::webhook::{ValidateLoadBalancer, ValidateLoadBalancerRequest};

pub(super) async fn stored<S: ClusterReader>(
    change: &ObjectChange<LoadBalancerSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    let new = &change.new.read;
    let old = change.old.as_ref().map(|old| &old.read);
    validate_load_balancer(&change.key, new, old).into_result()?;

    let namespace = &change.key.namespace;
    let is_new = change.is_new();
    if !is_new && old.is_some_and(|old| old.attributes == new.attributes) {
        return Ok(()); // The driver validates attributes only.
    }
    let driver = context
        .driver("spec.lbDriver", namespace, &new.lb_driver, is_new)
        .await?;
    let request = ValidateLoadBalancerRequest {
        dry_run: context.is_dry_run(),
        lb_spec: new.lb_spec.to_wire(),
        operation: change.operation(),
        attributes: new.attributes.to_wire(),
        old_attributes: old.map(|old| old.attributes.to_wire()).unwrap_or_default(),
    };
    // Clients search for these texts.
    let failed = "call webhook error, webhook: validateLoadBalancer, err";
    context
        .validate::<ValidateLoadBalancer>(&driver, &request, failed, "invalid LoadBalancer")
        .await
}
