//! BackendGroup (b61, b79 to b86).

use super::Change;
use crate::admission::ask::{Asking, NotPassed};
use crate::admission::known::Known;
use crate::admission::refusal::{Denial, all_of, unless_none};
use crate::admission::rules::{backend_type, validate_backend_group};
use crate::api::{BackendGroupSpec, DeregisterPolicy, DeregisterWebhook, LoadBalancer};
use crate::backend_group::is_in_scope;
use crate::key::ObjectKey;
use crate::names;
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{BackendType, Operation, ValidateBackend, ValidateBackendRequest};
use std::collections::HashSet;

pub(super) async fn stored<S: Known>(
    change: &Change<BackendGroupSpec>,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    let new = &change.new.read;
    let old = change.old.as_ref().map(|old| &old.read);
    unless_none(&validate_backend_group(
        change.new.parts(),
        change.old.as_ref().map(|old| old.parts()),
    ))?;

    let judge = judge(
        new.deregister_policy,
        new.deregister_webhook.as_ref(),
        old.map(|old| (old.deregister_policy, old.deregister_webhook.as_ref())),
        &change.key,
        ask,
    );
    let lbs = Lbs { change, ask }.all();
    let (judge, lbs) = tokio::join!(judge, lbs);
    all_of(std::iter::once(judge).chain(lbs))
}

/// The driver that decides about pods that are not ready has to be there already, when it is
/// named.
pub(super) async fn judge<S: Known>(
    policy: Option<DeregisterPolicy>,
    webhook: Option<&DeregisterWebhook>,
    old: Option<(Option<DeregisterPolicy>, Option<&DeregisterWebhook>)>,
    object: &ObjectKey,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    let named = |policy: Option<DeregisterPolicy>, webhook: Option<&DeregisterWebhook>| {
        webhook
            .filter(|_| policy == Some(DeregisterPolicy::Webhook))
            .map(|webhook| webhook.driver_name.clone())
    };
    let Some(name) = named(policy, webhook) else {
        return Ok(());
    };
    if old
        .and_then(|(policy, webhook)| named(policy, webhook))
        .as_ref()
        == Some(&name)
    {
        return Ok(());
    }
    ask.driver_for_new(
        "spec.deregisterWebhook.driverName",
        &object.namespace,
        &name,
    )
    .await?;
    Ok(())
}

/// The load balancers of a group that is stored.
struct Lbs<'a, S> {
    change: &'a Change<BackendGroupSpec>,
    ask: &'a Asking<'a, S>,
}

impl<S: Known> Lbs<'_, S> {
    /// What each load balancer has against it, all asked at once.
    async fn all(self) -> Vec<Result<(), Denial>> {
        let new = &self.change.new.read;
        if let Some(old) = &self.change.old
            && concerns_no_load_balancer(new, &old.read)
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
        let driver = if self.change.is_new() {
            self.ask
                .driver_for_new(&field, namespace, &lb.spec.lb_driver)
                .await?
        } else {
            self.ask
                .driver(&field, namespace, &lb.spec.lb_driver)
                .await?
        };
        let Some(request) = self.request(name, &lb) else {
            return Ok(());
        };
        // Clients look for these texts; the original's have no colon here (b78).
        self.ask
            .verdict::<ValidateBackend>(&driver, &request)
            .await
            .map_err(|not_passed| match not_passed {
                NotPassed::NoAnswer(error) => Denial::Unknown(format!(
                    "call webhook error, webhook validateBackend, err: {error}"
                )),
                NotPassed::Refused(message) => {
                    Denial::Refused(format!("invalid Backend, msg: {message}"))
                }
            })
    }

    /// The load balancer, if the group may use it (b83). One that is missing is none to the
    /// policy `optional` (b85).
    async fn usable(&self, name: &str) -> Result<Option<std::sync::Arc<LoadBalancer>>, Denial> {
        let namespace = &self.change.key.namespace;
        let key = names::resolve(namespace, name);
        let no = |why: String| Denial::Refused(format!("spec.loadBalancers: {name:?}: {why}"));
        let Some(lb) = self.ask.load_balancer(&key).await? else {
            let annotation = names::ANNOTATION_VALIDATION_POLICY;
            if self.change.metadata.annotation(annotation) == Some("optional") {
                return Ok(None);
            }
            return Err(no(format!(
                "there is no LoadBalancer {key}; create it first, or give the group the annotation {annotation}: optional"
            )));
        };
        if lb.metadata.deletion_timestamp.is_some() {
            return Err(no(format!("LoadBalancer {key} is being deleted")));
        }
        if !is_in_scope(&lb, namespace) {
            return Err(no(format!(
                "LoadBalancer {key} is not for namespace {namespace}; its spec.scope is {:?}",
                lb.spec.scope
            )));
        }
        Ok(Some(lb))
    }

    /// What a load balancer's driver is asked; nothing, where it sees no change.
    fn request(&self, name: &str, lb: &LoadBalancer) -> Option<ValidateBackendRequest> {
        let new = &self.change.new.read;
        let old = self.change.old.as_ref().map(|old| &old.read);
        let is_unchanged = old.is_some_and(|old| {
            old.parameters == new.parameters
                && backend_type(old) == backend_type(new)
                && old.load_balancer_names().any(|old| old == name)
        });
        if is_unchanged {
            return None;
        }
        Some(ValidateBackendRequest {
            dry_run: self.ask.rehearses(),
            backend_type: backend_type(new).unwrap_or(BackendType::Static),
            lb_info: identity(lb),
            operation: if self.change.is_new() {
                Operation::Create
            } else {
                Operation::Update
            },
            parameters: new.parameters.to_wire(),
            old_parameters: old.map(|old| old.parameters.to_wire()).unwrap_or_default(),
        })
    }
}

/// The load balancer's identity; until it is created, what is known of it (u28).
fn identity(lb: &LoadBalancer) -> lbcf_driver_sdk::webhook::StringMap {
    let status = lb.status.as_ref().map(|status| &status.lb_info);
    status
        .filter(|info| !info.is_empty())
        .unwrap_or(&lb.spec.lb_spec)
        .to_wire()
}

/// Whether only policies changed, which neither load balancers nor their drivers see.
fn concerns_no_load_balancer(new: &BackendGroupSpec, old: &BackendGroupSpec) -> bool {
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
