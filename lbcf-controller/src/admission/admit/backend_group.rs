//! BackendGroup.

use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::{Denial, all_of};
use crate::admission::object::ObjectChange;
use crate::admission::rules::validate_backend_group;
use crate::admission::validation_context::ValidationContext;
use crate::api::{BackendGroupSpec, LoadBalancer, ObjectKey, names};
use crate::index::is_in_scope;
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{StringMap, ValidateBackend};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) async fn stored<S: ClusterReader>(
    change: &ObjectChange<BackendGroupSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    validate_backend_group(&change.new, change.old.as_ref()).into_result()?;
    let lbs = LoadBalancerChecks { change, context };
    let (webhook, lbs) = tokio::join!(change.check_deregister_driver(context), lbs.all());
    all_of(std::iter::once(webhook).chain(lbs))
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
        let (new, old) = self.change.backends();
        let has_name = |spec: &BackendGroupSpec| spec.load_balancer_names().any(|old| old == name);
        if self
            .change
            .old
            .as_ref()
            .is_some_and(|old| has_name(&old.read))
            && old.is_some_and(|old| old.is_same_on_the_wire(&new))
        {
            return Ok(()); // Nothing changed that the driver validates.
        }
        let request = self
            .change
            .backend_request(identity(&lb), self.context.is_dry_run());
        // The original's texts, which clients search for; they have no colon here.
        let failed = "call webhook error, webhook validateBackend, err";
        self.context
            .validate::<ValidateBackend>(&driver, &request, failed, "invalid Backend, msg")
            .await
    }

    /// The load balancer, which the group must be allowed to use; `None` if it does not exist
    /// and the policy is `optional`.
    async fn usable(&self, name: &str) -> Result<Option<Arc<LoadBalancer>>, Denial> {
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
}

/// The load balancer's identity; its `lbSpec` until it is created.
fn identity(lb: &LoadBalancer) -> StringMap {
    let status = lb.status.as_ref().map(|status| &status.lb_info);
    status
        .filter(|info| !info.is_empty())
        .unwrap_or(&lb.spec.lb_spec)
        .to_wire()
}

/// True where nothing changed that concerns load balancers or their drivers.
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
