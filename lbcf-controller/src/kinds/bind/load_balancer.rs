//! One load balancer of a Bind, which its entry in the Bind's status describes.
//!
//! The load balancers of a Bind are reconciled concurrently, and their results are in one list.
//! Each writes only its own entry, into the newest state and one after the other: none overwrites
//! another's entry, and no webhook's result is lost to a conflict. Each write carries the counts;
//! they are written alone only where they changed without one.

use crate::api::names::{self, FINALIZER_LOAD_BALANCER};
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    Bind, BindStatus, ConditionStatus, Conditions, EnsurePolicy, ObjectExt, ObjectKey,
    TargetLoadBalancer, TargetLoadBalancerStatus, condition_types,
};
use crate::backends::counted;
use crate::cluster::WriteError;
use crate::index::{BindLoadBalancerKey, Owner, Request, RequestKey};
use crate::kinds::load_balancer::lifecycle::{
    self, Creation, LoadBalancerPhase, LoadBalancerState, ManagedLoadBalancer, Observations,
    has_failed,
};
use crate::runtime::{Action, Context, Error};
use std::sync::Arc;

/// The number of writes with the newest state before the object is reconciled again.
const ATTEMPTS: usize = 5;

pub(crate) async fn reconcile(
    context: &Context,
    key: &BindLoadBalancerKey,
) -> Result<Action, Error> {
    let Some(bind) = context.confirm::<Bind>(&key.bind).await? else {
        return Ok(Action::AwaitChange);
    };
    let key = key.clone();
    lifecycle::reconcile(context, &BindLoadBalancer { bind, key }).await
}

#[derive(Debug)]
pub(crate) struct BindLoadBalancer {
    bind: Arc<Bind>,
    key: BindLoadBalancerKey,
}

impl BindLoadBalancer {
    pub(crate) const fn new(bind: Arc<Bind>, key: BindLoadBalancerKey) -> Self {
        Self { bind, key }
    }

    fn entry(&self) -> Option<&TargetLoadBalancerStatus> {
        entry(&self.bind, &self.key.name)
    }

    fn declared(&self) -> Option<&TargetLoadBalancer> {
        let mut declared = self.bind.spec.load_balancers.iter();
        declared.find(|lb| lb.name == self.key.name)
    }

    /// The name of the driver that has the load balancer, or else of the one that is to create it.
    fn driver_name(&self) -> &str {
        let existing = self.entry().map(|entry| entry.driver.as_str());
        existing
            .filter(|driver| !driver.is_empty())
            .or_else(|| self.declared().map(|lb| lb.driver.as_str()))
            .unwrap_or_default()
    }

    fn phase(&self, dry_run: bool) -> LoadBalancerPhase {
        let is_deleting = self.bind.is_deleting();
        // The Bind's own reconciliation adds it.
        let has_finalizer = self.bind.has_finalizer(FINALIZER_LOAD_BALANCER);
        if !has_finalizer && (is_deleting || !dry_run) {
            return LoadBalancerPhase::Inactive;
        }
        let desired = self.declared().filter(|_| !is_deleting);
        let Some(entry) = self.entry() else {
            return desired.map_or(LoadBalancerPhase::Inactive, |_| LoadBalancerPhase::Kept);
        };
        let is_kept = entry.deletion_timestamp.is_none();
        // With another driver it is another load balancer.
        let is_same = |desired: &TargetLoadBalancer| {
            entry.driver.is_empty() || desired.driver == entry.driver
        };
        if is_kept && desired.is_some_and(is_same) {
            LoadBalancerPhase::Kept
        } else if is_kept && !is_deleting {
            LoadBalancerPhase::NeedsDeletionMark
        } else {
            LoadBalancerPhase::Deleting
        }
    }
}

impl ManagedLoadBalancer for BindLoadBalancer {
    type Object = Bind;

    const SYNCED: &'static str = condition_types::READY;
    const DELETION: &'static str = condition_types::READY;
    const FAILED: [&'static ReportReason; 2] = [reasons::CREATE_FAILED, reasons::ENSURE_FAILED];
    const IS_STATUS_DETAILED: bool = true;

    fn object(&self) -> &Bind {
        &self.bind
    }

    fn part(&self) -> &str {
        &self.key.name
    }

    fn key(&self) -> RequestKey {
        RequestKey::BindLoadBalancer(self.key.clone())
    }

    fn ensure_policy(&self) -> Option<EnsurePolicy> {
        self.bind.spec.ensure_policy()
    }

    fn driver(&self) -> (String, ObjectKey) {
        let driver = names::resolve(&self.key.bind.namespace, self.driver_name());
        let field = format!("spec.loadBalancers[name={}].driver", self.key.name);
        (field, driver)
    }

    fn state(&self, observations: Observations) -> LoadBalancerState {
        let phase = self.phase(observations.dry_run);
        let status = self.status();
        let synced_attributes = status.last_synced_attributes.clone();
        let declared = self.declared();
        let spec = match (declared, phase) {
            (Some(declared), LoadBalancerPhase::Kept) => &declared.spec,
            // The original controller did not store what creating began from.
            (Some(declared), _) if status.lb_info.is_empty() => &declared.spec,
            _ => &status.lb_info,
        };
        let attributes = match (declared, phase) {
            (Some(declared), LoadBalancerPhase::Kept) => declared.attributes.clone(),
            _ => synced_attributes.clone().unwrap_or_default(),
        };
        let uid = self.bind.metadata.uid.as_deref().unwrap_or_default();
        LoadBalancerState {
            id: format!("{uid}-{}", self.key.name),
            phase,
            creation: Creation::of(&status.conditions),
            is_synced: !has_failed(&status.conditions, Self::SYNCED)
                && synced_attributes.unwrap_or_default() == attributes,
            spec: spec.clone(),
            attributes,
            retry_wait: observations
                .retry_in
                .filter(|_| has_failed_since(&status, self.bind.metadata.generation)),
            lb_info: status.lb_info,
            deletes_uncreated: false,
            observations,
        }
    }

    fn status(&self) -> TargetLoadBalancerStatus {
        self.entry()
            .cloned()
            .unwrap_or_else(|| TargetLoadBalancerStatus {
                name: self.key.name.clone(),
                driver: self.driver_name().to_owned(),
                ..TargetLoadBalancerStatus::default()
            })
    }

    /// It includes the spec, which may have been changed or removed when creating is finished.
    fn initial_status(&self) -> TargetLoadBalancerStatus {
        let old = self.status();
        let declared = self.declared().cloned().unwrap_or_default();
        TargetLoadBalancerStatus {
            name: old.name,
            driver: declared.driver,
            lb_info: declared.spec,
            last_synced_attributes: Some(declared.attributes),
            conditions: old.conditions,
            ..TargetLoadBalancerStatus::default()
        }
    }

    async fn write_status(
        &self,
        context: &Context,
        status: TargetLoadBalancerStatus,
    ) -> Result<(), Error> {
        write_entry(context, &self.bind, &self.key, Some(&status)).await
    }

    async fn remove(&self, context: &Context) -> Result<(), Error> {
        write_entry(context, &self.bind, &self.key, None).await
    }
}

/// True if a load balancer's failure is of this generation, so that it waits for its retry: a change
/// of the Bind, or its deletion, ends the wait.
fn has_failed_since(status: &TargetLoadBalancerStatus, generation: Option<i64>) -> bool {
    let mut failed = status
        .conditions
        .iter()
        .filter(|condition| condition.status != ConditionStatus::True);
    failed.any(|condition| condition.observed_generation == generation)
}

fn entry<'a>(bind: &'a Bind, name: &str) -> Option<&'a TargetLoadBalancerStatus> {
    let status = bind.status.as_ref()?;
    let mut entries = status.load_balancer_statuses.iter();
    entries.find(|entry| entry.name == name)
}

/// Writes a load balancer's entry, or removes it.
async fn write_entry(
    context: &Context,
    bind: &Bind,
    key: &BindLoadBalancerKey,
    new: Option<&TargetLoadBalancerStatus>,
) -> Result<(), Error> {
    let lock = context.status_locks.of(&key.bind);
    let _locked = lock.lock().await;
    let decided_on = entry(bind, &key.name);
    let mut attempts = 1;
    loop {
        let current = context.index().find::<Bind>(&key.bind);
        let current = current.filter(|current| current.metadata.uid == bind.metadata.uid);
        let Some(current) = current else {
            return Err(WriteError::Stale.into());
        };
        // In a dry run, decisions are based on what was never stored.
        if entry(&current, &key.name) != decided_on && !context.options.dry_run {
            // An earlier write succeeded that seemed to have failed.
            return Err(WriteError::Stale.into());
        }
        let owner = Owner::Bind(key.bind.clone());
        let status = with_entry(&current, &key.name, new);
        let (status, _) = counted(context, &owner, &*current, status, None);
        context.memory.note_status_write(&owner.request_key());
        match context.write_status(&*current, &status).await {
            Err(Error::Write(WriteError::Stale)) if attempts < ATTEMPTS => attempts += 1,
            Ok(()) => {
                if reason_of(current.status.as_ref()) != reason_of(Some(&status)) {
                    // The Bind reports by an event what it waits for now.
                    let bind = RequestKey::Bind(key.bind.clone());
                    context.queue.add([Request::batched(bind)]);
                }
                return Ok(());
            }
            result => return result,
        }
        context.confirm::<Bind>(&key.bind).await?;
    }
}

/// The reason of the Bind's own condition.
fn reason_of(status: Option<&BindStatus>) -> Option<&str> {
    let ready = status?.conditions.find(condition_types::READY)?;
    Some(&ready.reason)
}

/// The status with this entry. Entries are in the order in which they were added.
fn with_entry(bind: &Bind, name: &str, new: Option<&TargetLoadBalancerStatus>) -> BindStatus {
    let mut status = bind.status.clone().unwrap_or_default();
    let entries = &mut status.load_balancer_statuses;
    match (entries.iter_mut().find(|entry| entry.name == name), new) {
        (Some(entry), Some(new)) => entry.clone_from(new),
        (None, Some(new)) => entries.push(new.clone()),
        (_, None) => entries.retain(|entry| entry.name != name),
    }
    status
}

#[cfg(test)]
mod tests;
