//! Admits one request: first the rules, then lookups and drivers.

mod backend_group;
mod bind;
mod driver;
mod load_balancer;

use super::cluster_reader::ClusterReader;
use super::denial::Denial;
use super::field_error::FieldError;
use super::object::{Metadata, Spec};
use super::review::{AdmissionDecision, Request};
use super::table::{Action, Hook, Kind, Operation};
use super::validation_context::ValidationContext;
use super::{mutate, rules};
use lbcf_driver_sdk::webhook;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Decides a request to one of the webhooks.
pub(super) async fn admit<S: ClusterReader>(
    hook: &Hook,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> AdmissionDecision {
    let Some(operation) = Operation::read(&request.operation) else {
        return AdmissionDecision::Allowed; // b65
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
        Action::Validate { .. } => validated(hook.kind, operation, request, context)
            .await
            .into(),
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
    // b66, b98: finalizers can be removed, and an unchanged spec is not validated again.
    if old.is_some() && is_deleting(object) {
        return Ok(());
    }
    if old.is_some_and(|old| old.get("spec") == object.get("spec")) {
        return context.allow();
    }
    match kind {
        Kind::Driver => driver::stored(&ObjectChange::read(kind, request, object, old)?)?,
        Kind::LoadBalancer => {
            load_balancer::stored(&ObjectChange::read(kind, request, object, old)?, context)
                .await?;
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

/// Validates a deletion by the object in the request: the name in the request is empty when a
/// collection is deleted (u27).
async fn deleted<S: ClusterReader>(
    kind: Kind,
    request: &Request,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    let Some(object) = &request.old_object else {
        return Ok(()); // b70
    };
    let metadata = Metadata::read(object)?;
    let key = metadata.key(request);
    match kind {
        Kind::Driver => driver::deleted(&key, metadata, context).await?,
        Kind::LoadBalancer | Kind::BackendGroup => {
            rules::validate_deletion(&kind.resource().kind, &key, &metadata.labels())?;
        }
        Kind::Bind | Kind::Pod => {}
    }
    context.allow()
}

/// An object to be stored, and the one that it replaces.
#[derive(Debug)]
struct ObjectChange<S> {
    key: crate::api::ObjectKey,
    metadata: Metadata,
    new: Spec<S>,
    old: Option<Spec<S>>,
    /// The replaced object with its status.
    stored: Option<Value>,
}

impl<S: DeserializeOwned> ObjectChange<S> {
    fn read(
        kind: Kind,
        request: &Request,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<Self, Denial> {
        let metadata = Metadata::read(object)?;
        Ok(Self {
            key: metadata.key(request),
            metadata,
            new: Spec::read(kind, object)?,
            // A stored object that cannot be decoded can be replaced.
            old: old.and_then(|old| Spec::read(kind, old).ok()),
            stored: old.cloned(),
        })
    }
}

impl<S> ObjectChange<S> {
    const fn is_new(&self) -> bool {
        self.stored.is_none()
    }

    /// The operation that is sent to drivers.
    const fn operation(&self) -> webhook::Operation {
        if self.is_new() {
            webhook::Operation::Create
        } else {
            webhook::Operation::Update
        }
    }
}

fn is_deleting(object: &Value) -> bool {
    Metadata::read(object).is_ok_and(|metadata| metadata.is_deleting())
}

#[cfg(test)]
mod tests;
