//! The answer to one request: rules first, then what only others know.

mod backend_group;
mod bind;
mod driver;
mod load_balancer;

use super::ask::Asking;
use super::known::Known;
use super::mutate;
use super::object::{Metadata, Spec};
use super::refusal::{Denial, Refusal, unless_none};
use super::review::{Answer, Request};
use super::rules;
use super::table::{Action, Hook, Kind, Operation};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Answers a request that came to a webhook.
pub(super) async fn answer<S: Known>(
    hook: &Hook,
    request: &Request,
    ask: &Asking<'_, S>,
) -> Answer {
    let Some(operation) = Operation::read(&request.operation) else {
        return Answer::Allowed; // b65
    };
    if request
        .sub_resource
        .as_deref()
        .is_some_and(|sub| !sub.is_empty())
    {
        return Answer::Allowed; // Statuses are the controller's own.
    }
    match hook.action {
        Action::Mutate => changed(hook.kind, operation, request),
        Action::Validate { .. } => validated(hook.kind, operation, request, ask).await.into(),
    }
}

fn changed(kind: Kind, operation: Operation, request: &Request) -> Answer {
    let Some(object) = request
        .object
        .as_ref()
        .filter(|_| operation != Operation::Delete)
    else {
        return Answer::Allowed;
    };
    if is_deleting(object) {
        return Answer::Allowed;
    }
    let patch = mutate::patch(kind, operation, object, request.old_object.as_ref());
    if patch.0.is_empty() {
        Answer::Allowed
    } else {
        Answer::Patched(patch)
    }
}

async fn validated<S: Known>(
    kind: Kind,
    operation: Operation,
    request: &Request,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    if operation == Operation::Delete {
        return deleted(kind, request, ask).await;
    }
    let Some(object) = &request.object else {
        return Err(invalid(Refusal::field("request.object", "missing")));
    };
    let old = request
        .old_object
        .as_ref()
        .filter(|_| operation == Operation::Update);
    // b66, b98: what goes may lose its finalizers, and what stays as it is asks nobody.
    if old.is_some() && is_deleting(object) {
        return Ok(());
    }
    if old.is_some_and(|old| old.get("spec") == object.get("spec")) {
        return ask.passed();
    }
    match kind {
        Kind::Driver => driver::stored(&Change::read(kind, request, object, old)?)?,
        Kind::LoadBalancer => {
            load_balancer::stored(&Change::read(kind, request, object, old)?, ask).await?;
        }
        Kind::BackendGroup => {
            backend_group::stored(&Change::read(kind, request, object, old)?, ask).await?;
        }
        Kind::Bind => bind::stored(&Change::read(kind, request, object, old)?, ask).await?,
    }
    ask.passed()
}

/// Looks at the object that goes, not at what is stored under the request's name: that is empty
/// when a whole collection goes (u27).
async fn deleted<S: Known>(
    kind: Kind,
    request: &Request,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    let Some(object) = &request.old_object else {
        return Ok(()); // b70
    };
    let metadata = Metadata::read(object).map_err(invalid)?;
    let key = metadata.key(request);
    match kind {
        Kind::Driver => driver::deleted(&key, metadata, request, ask).await?,
        Kind::LoadBalancer | Kind::BackendGroup => {
            rules::validate_deletion(&kind.names().kind, &key, &metadata.labels())?;
        }
        Kind::Bind => {}
    }
    ask.passed()
}

/// What is to be stored, and what is stored.
#[derive(Debug)]
struct Change<S> {
    key: crate::key::ObjectKey,
    metadata: Metadata,
    new: Spec<S>,
    old: Option<Spec<S>>,
    /// What is stored, whole.
    stored: Option<Value>,
}

impl<S: DeserializeOwned> Change<S> {
    fn read(
        kind: Kind,
        request: &Request,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<Self, Denial> {
        let metadata = Metadata::read(object).map_err(invalid)?;
        Ok(Self {
            key: metadata.key(request),
            metadata,
            new: Spec::read(kind, object).map_err(invalid)?,
            // What is stored and cannot be understood is no reason to keep it so.
            old: old.and_then(|old| Spec::read(kind, old).ok()),
            stored: old.cloned(),
        })
    }
}

impl<S> Change<S> {
    const fn is_new(&self) -> bool {
        self.stored.is_none()
    }
}

fn is_deleting(object: &Value) -> bool {
    Metadata::read(object).is_ok_and(|metadata| metadata.is_deleting())
}

fn invalid(refusal: Refusal) -> Denial {
    match unless_none(&[refusal]) {
        Err(denial) => denial,
        Ok(()) => Denial::Refused(String::new()),
    }
}

#[cfg(test)]
mod tests;
