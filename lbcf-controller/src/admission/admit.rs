//! Admits one request: first the rules, then lookups and drivers.

mod backend_group;
mod backends;
mod bind;

use super::cluster_reader::ClusterReader;
use super::denial::{Denial, FieldError};
use super::object::{Metadata, ObjectChange};
use super::review::{AdmissionDecision, Request};
use super::table::{Action, Hook, Kind, Operation};
use super::validation_context::ValidationContext;
use super::{mutate, rules};
use crate::api::names::FINALIZER_DRIVER;
use crate::api::{LoadBalancerSpec, ObjectKey};
use lbcf_driver_sdk::webhook::ValidateLoadBalancer;
use serde_json::Value;

/// Decides a request to one of the webhooks.
pub(super) async fn admit<S: ClusterReader>(
    hook: &Hook,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> AdmissionDecision {
    let Some(operation) = Operation::read(&request.operation) else {
        return AdmissionDecision::Allowed; // It has no rule.
    };
    if request
        .sub_resource
        .as_deref()
        .is_some_and(|sub| !sub.is_empty())
    {
        return AdmissionDecision::Allowed; // Only the controller writes statuses.
    }
    match hook.action {
        Action::Mutate => changed(hook.kind, operation, request),
        Action::Validate | Action::ValidateWithDrivers => {
            validated(hook.kind, operation, request, context)
                .await
                .into()
        }
    }
}

fn changed(kind: Kind, operation: Operation, request: &Request) -> AdmissionDecision {
    let Some(object) = request
        .object
        .as_ref()
        .filter(|_| operation != Operation::Delete)
    else {
        return AdmissionDecision::Allowed;
    };
    if is_deleting(object) {
        return AdmissionDecision::Allowed;
    }
    let patch = mutate::patch(kind, operation, object, request.old_object.as_ref());
    if patch.0.is_empty() {
        AdmissionDecision::Allowed
    } else {
        AdmissionDecision::Patched(patch)
    }
}

async fn validated<S: ClusterReader>(
    kind: Kind,
    operation: Operation,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    if operation == Operation::Delete {
        return deleted(kind, request, context).await;
    }
    let Some(object) = &request.object else {
        return Err(FieldError::new("request.object", "missing").into());
    };
    let old = request
        .old_object
        .as_ref()
        .filter(|_| operation == Operation::Update);
    // Finalizers can be removed, and an unchanged spec is not validated again.
    if old.is_some() && is_deleting(object) {
        return Ok(());
    }
    if old.is_some_and(|old| old.get("spec") == object.get("spec")) {
        return context.allow();
    }
    match kind {
        Kind::Driver => {
            let change = ObjectChange::read(kind, request, object, old)?;
            if change.is_new() {
                rules::validate_driver(&change.key, &change.new.read).into_result()?;
            }
        }
        Kind::LoadBalancer => {
            load_balancer_stored(&ObjectChange::read(kind, request, object, old)?, context).await?;
        }
        Kind::BackendGroup => {
            backend_group::stored(&ObjectChange::read(kind, request, object, old)?, context)
                .await?;
        }
        Kind::Bind => {
            bind::stored(&ObjectChange::read(kind, request, object, old)?, context).await?;
        }
        Kind::Pod => {}
    }
    context.allow()
}

async fn load_balancer_stored<S: ClusterReader>(
    change: &ObjectChange<LoadBalancerSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    let new = &change.new.read;
    let old = change.old.as_ref().map(|old| &old.read);
    rules::validate_load_balancer(&change.key, new, old).into_result()?;

    let namespace = &change.key.namespace;
    let is_new = change.is_new();
    if !is_new && old.is_some_and(|old| old.attributes == new.attributes) {
        return Ok(()); // The driver validates attributes only.
    }
    let driver = context
        .driver("spec.lbDriver", namespace, &new.lb_driver, is_new)
        .await?;
    let request = ValidateLoadBalancer {
        dry_run: context.is_dry_run(),
        namespace: namespace.to_string(),
        name: change.key.name.to_string(),
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

/// Validates a deletion by the object in the request: the name in the request is empty when a
/// collection is deleted.
async fn deleted<S: ClusterReader>(
    kind: Kind,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    let Some(object) = &request.old_object else {
        return Ok(());
    };
    let metadata = Metadata::read(object)?;
    let key = metadata.key(request);
    match kind {
        Kind::Driver => driver_deleted(&key, metadata, context).await?,
        Kind::LoadBalancer | Kind::BackendGroup => {
            rules::validate_deletion(&kind.resource().kind, &key, &metadata.labels())?;
        }
        Kind::Bind | Kind::Pod => {}
    }
    context.allow()
}

/// A namespace that is being deleted can neither be kept nor get labels on each of its drivers. Its
/// drivers are deleted at any time, because their finalizer keeps them until nothing uses them.
async fn driver_deleted<S: ClusterReader>(
    key: &ObjectKey,
    metadata: Metadata,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    if metadata.is_deleting() {
        return Ok(()); // Nothing changes.
    }
    let users = context.cluster.users_of_driver(key).await;
    let outlives_users = users.is_empty() || metadata.has_finalizer(FINALIZER_DRIVER);
    let checked = rules::validate_driver_deletion(key, &metadata.labels(), &users);
    if checked.is_err() && outlives_users && context.is_namespace_deleting(&key.namespace).await? {
        return Ok(());
    }
    checked
}

fn is_deleting(object: &Value) -> bool {
    Metadata::read(object).is_ok_and(|metadata| metadata.is_deleting())
}

#[cfg(test)]
mod tests;
