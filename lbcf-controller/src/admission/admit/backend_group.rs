//! BackendGroup (b61, b79 to b86).

use super::ObjectChange;
use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::{Denial, all_of};
use crate::admission::rules::{backend_type_on_the_wire, validate_backend_group};
use crate::admission::validation_context::ValidationContext;
use crate::api::{
    BackendGroupSpec, DeregisterPolicy, DeregisterWebhook, LoadBalancer, ObjectKey, names,
};
use crate::index::is_in_scope;
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{BackendType, ValidateBackend, ValidateBackendRequest};
use std::collections::HashSet;

pub(super) async fn stored<S: ClusterReader>(
    change: &ObjectChange<BackendGroupSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    validate_backend_group(&change.new, change.old.as_ref()).into_result()?;

    let new = &change.new.read;
    let driver_of = |spec: &BackendGroupSpec| {
        deregister_driver(spec.deregister_policy, spec.deregister_webhook.as_ref())
    };
    let webhook = check_deregister_driver(
        driver_of(new),
        change.old.as_ref().and_then(|old| driver_of(&old.read)),
        &change.key,
        context,
    );
    let lbs = LoadBalancerChecks { change, context }.all();
    let (webhook, lbs) = tokio::join!(webhook, lbs);
    all_of(std::iter::once(webhook).chain(lbs))
}

/// The driver of a deregister webhook, if the policy uses it.
pub(super) fn deregister_driver(
    policy: Option<DeregisterPolicy>,
    webhook: Option<&DeregisterWebhook>,
) -> Option<String> {
    let webhook = webhook.filter(|_| policy == Some(DeregisterPolicy::Webhook))?;
    Some(webhook.driver_name.clone())
}

/// The driver of a deregister webhook must exist when the webhook is set.
pub(super) async fn check_deregister_driver<S: ClusterReader>(
    new: Option<String>,
    old: Option<String>,
    object: &ObjectKey,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    if let Some(name) = &new
        && new != old
    {
        let field = "spec.deregisterWebhook.driverName";
        context.driver(field, &object.namespace, name, true).await?;
    }
    Ok(())
}

struct LoadBalancerChecks<'a, S> {
    change: &'a ObjectChange<BackendGroupSpec>,
    context: &'a ValidationContext<'a, S>,
}

impl<S: ClusterReader> LoadBalancerChecks<'_, S> {
    /// Checks all load balancers concurrently.
    async fn all(self) -> Vec<Result<(), Denial>> {
        let new = &self.change.new.read;
        if let Some(old) = &self.change.old
            && only_policies_changed(new, &old.read)
        {
            return Vec::new();
        }
        join_all(new.load_balancer_names().map(|name| self.one(name))).await
    }

    async fn one(&self, name: &str) -> Result<(), Denial> {
        let Some(lb) = self.usable(name).await? else {
            return Ok(());
        };
        let namespace = lb.metadata.namespace.as_deref().unwrap_or_default();
        let field = format!("spec.lbDriver of LoadBalancer {}", ObjectKey::of(&*lb));
        let driver = self
            .context
            .driver(&field, namespace, &lb.spec.lb_driver, self.change.is_new())
            .await?;
        let Some(request) = self.request(name, &lb) else {
            return Ok(());
        };
        // The original's texts, which clients search for; they have no colon here (b78).
        let failed = "call webhook error, webhook validateBackend, err";
        self.context
            .validate::<ValidateBackend>(&driver, &request, failed, "invalid Backend, msg")
            .await
    }

    /// The load balancer, which the group must be allowed to use (b83); `None` if it does not exist
    /// and the policy is `optional` (b85).
    async fn usable(&self, name: &str) -> Result<Option<std::sync::Arc<LoadBalancer>>, Denial> {
        let namespace = &self.change.key.namespace;
        let key = names::resolve(namespace, name);
        let unusable =
            |why: String| Denial::Forbidden(format!("spec.loadBalancers: {name:?}: {why}"));
        let Some(lb) = self.context.load_balancer(&key).await? else {
            let annotation = names::ANNOTATION_VALIDATION_POLICY;
            if self.change.metadata.annotation(annotation) == Some("optional") {
                return Ok(None);
            }
            return Err(unusable(format!(
                "LoadBalancer {key} not found; create it first, or set the annotation {annotation}: optional on the group"
            )));
        };
        if lb.metadata.deletion_timestamp.is_some() {
            return Err(unusable(format!("LoadBalancer {key} is being deleted")));
        }
        if !is_in_scope(&lb, namespace) {
            return Err(unusable(format!(
                "LoadBalancer {key} does not allow namespace {namespace}; its spec.scope is {:?}",
                lb.spec.scope
            )));
        }
        Ok(Some(lb))
    }

    /// The call of the driver; `None` where nothing changed that the driver validates.
    fn request(&self, name: &str, lb: &LoadBalancer) -> Option<ValidateBackendRequest> {
        let new = &self.change.new.read;
        let old = self.change.old.as_ref().map(|old| &old.read);
        let is_unchanged = old.is_some_and(|old| {
            old.parameters == new.parameters
                && type_on_the_wire(old) == type_on_the_wire(new)
                && old.load_balancer_names().any(|old| old == name)
        });
        if is_unchanged {
            return None;
        }
        Some(ValidateBackendRequest {
            dry_run: self.context.is_dry_run(),
            backend_type: type_on_the_wire(new),
            lb_info: identity(lb),
            operation: self.change.operation(),
            parameters: new.parameters.to_wire(),
            old_parameters: old.map(|old| old.parameters.to_wire()).unwrap_or_default(),
        })
    }
}

fn type_on_the_wire(spec: &BackendGroupSpec) -> BackendType {
    let of_objects = backend_type_on_the_wire(spec.pods.as_ref(), spec.service.as_ref());
    of_objects.unwrap_or(BackendType::Static)
}

/// The load balancer's identity; its `lbSpec` until it is created (u28).
fn identity(lb: &LoadBalancer) -> lbcf_driver_sdk::webhook::StringMap {
    let status = lb.status.as_ref().map(|status| &status.lb_info);
    status
        .filter(|info| !info.is_empty())
        .unwrap_or(&lb.spec.lb_spec)
        .to_wire()
}

/// Whether nothing changed that concerns load balancers or their drivers.
fn only_policies_changed(new: &BackendGroupSpec, old: &BackendGroupSpec) -> bool {
    let names = |spec: &BackendGroupSpec| {
        let names = spec.load_balancer_names().map(str::to_owned);
        names.collect::<HashSet<_>>()
    };
    new.parameters == old.parameters
        && new.pods == old.pods
        && new.service == old.service
        && new.static_addresses == old.static_addresses
        && names(new) == names(old)
}
