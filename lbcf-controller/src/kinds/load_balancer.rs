//! LoadBalancer: one load balancer in an object of its own.

pub(crate) mod lifecycle;

use crate::api::names::{self, FINALIZER_LOAD_BALANCER};
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    Conditions, EnsurePolicy, LoadBalancer, LoadBalancerStatus, ObjectExt, ObjectKey,
    TargetLoadBalancerStatus, condition_types,
};
use crate::index::RequestKey;
use crate::runtime::{Action, Context, Error};
use lifecycle::{
    Creation, LoadBalancerPhase, LoadBalancerState, ManagedLoadBalancer, Observations, has_failed,
};

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    match context.confirm::<LoadBalancer>(key).await? {
        Some(lb) => lifecycle::reconcile(context, &*lb).await,
        None => Ok(Action::AwaitChange),
    }
}

impl ManagedLoadBalancer for LoadBalancer {
    type Object = Self;

    const SYNCED: &'static str = condition_types::ATTRIBUTES_SYNCED;
    const DELETION: &'static str = condition_types::DELETED;
    const FAILED: [&'static ReportReason; 2] = [reasons::OPERATION_FAILED; 2];
    const IS_STATUS_DETAILED: bool = false;

    fn object(&self) -> &Self {
        self
    }

    fn part(&self) -> &'static str {
        ""
    }

    fn key(&self) -> RequestKey {
        RequestKey::LoadBalancer(ObjectKey::of(self))
    }

    fn ensure_policy(&self) -> Option<EnsurePolicy> {
        self.spec.ensure_policy.clone()
    }

    fn driver(&self) -> (String, ObjectKey) {
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        let driver = names::resolve(namespace, &self.spec.lb_driver);
        ("spec.lbDriver".to_owned(), driver)
    }

    fn state(&self, observations: Observations) -> LoadBalancerState {
        let has_finalizer = self.has_finalizer(FINALIZER_LOAD_BALANCER);
        let stored = self.status.as_ref();
        let has_attributes = stored.is_some_and(|status| status.has_synced(&self.spec.attributes));
        let status = ManagedLoadBalancer::status(self);
        LoadBalancerState {
            id: self.metadata.uid.clone().unwrap_or_default(),
            phase: match (self.is_deleting(), has_finalizer) {
                (true, true) => LoadBalancerPhase::Deleting,
                (true, false) => LoadBalancerPhase::Inactive,
                (false, false) if !observations.dry_run => LoadBalancerPhase::NeedsFinalizer,
                (false, _) => LoadBalancerPhase::Kept,
            },
            creation: Creation::of(&status.conditions),
            // The attributes are compared with those that the driver got last. If giving
            // it others failed since, it is unknown which it has.
            is_synced: !has_failed(&status.conditions, Self::SYNCED) && has_attributes,
            spec: self.spec.lb_spec.clone(),
            attributes: self.spec.attributes.clone(),
            lb_info: status.lb_info,
            deletes_uncreated: status.conditions.find(condition_types::CREATED).is_none(),
            retry_wait: None,
            observations,
        }
    }

    fn status(&self) -> TargetLoadBalancerStatus {
        let status = self.status.clone().unwrap_or_default();
        TargetLoadBalancerStatus {
            lb_info: status.lb_info,
            last_synced_attributes: status.last_synced_attributes,
            conditions: status.conditions,
            ..TargetLoadBalancerStatus::default()
        }
    }

    async fn write_status(
        &self,
        context: &Context,
        status: TargetLoadBalancerStatus,
    ) -> Result<(), Error> {
        // The attributes themselves are in the spec, and there may be many of them.
        let synced = status.last_synced_attributes;
        let synced = synced.map(|attributes| attributes.digest());
        let stored = self.status.as_ref();
        let status = LoadBalancerStatus {
            lb_info: status.lb_info,
            last_synced_digest: synced
                .or_else(|| stored.and_then(|status| status.last_synced_digest.clone())),
            last_synced_attributes: None,
            conditions: status.conditions,
        };
        context.write_status(self, &status).await
    }

    async fn remove(&self, context: &Context) -> Result<(), Error> {
        context
            .remove_finalizer(self, FINALIZER_LOAD_BALANCER)
            .await
    }
}

#[cfg(test)]
mod tests;
