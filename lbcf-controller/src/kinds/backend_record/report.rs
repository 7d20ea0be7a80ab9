//! A record's status and events while it waits or has no owner, and after a call that did not succeed.

use super::conflict::{self, Sharing};
use super::decide::{RecordWait, draining, draining_since};
use super::latency::unmet_since;
use super::reconcile::Reconciler;
use crate::api::names::READINESS_GATE;
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    BackendGroup, BackendRecordStatus, Bind, Condition, ConditionStatus, Conditions, ObjectExt,
    ObjectKey, condition_types,
};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::{Regarding, Wait};
use crate::index::{Owner, Ownership, PodView, controller_of};
use crate::runtime::operation::Incomplete;
use crate::runtime::{Action, Error};
use std::time::Duration;

/// The interval at which a record that can be adopted checks whether it still can. Usually an event enqueues
/// it; none follows when an owner that cannot be parsed is deleted.
const ADOPTION_INTERVAL: Duration = Duration::from_secs(60);
/// The same for a record that waits for another one. None follows when that is deleted without an address.
const SUCCESSOR_INTERVAL: Duration = Duration::from_secs(1);

impl Reconciler<'_> {
    pub(super) async fn report_driver(
        &self,
        reason: &'static ReportReason,
        problem: &str,
    ) -> Result<Action, Error> {
        let driver = ("spec.lbDriver", &self.driver_key());
        let wait = self.reporter.driver_wait(driver, reason, problem);
        self.write_unregistered(wait.reason, &wait.message).await?;
        Ok(self.reporter.wait_event(&wait))
    }

    /// Waits for an event that enqueues the record.
    pub(super) async fn wait(&self, wait: &RecordWait) -> Result<Action, Error> {
        let action = self
            .report(&wait.describe(self.record, &self.driver_key()))
            .await?;
        Ok(match wait {
            RecordWait::Adoption => action.at_most(ADOPTION_INTERVAL),
            RecordWait::Successor(_) => action.at_most(SUCCESSOR_INTERVAL),
            _ => action,
        })
    }

    pub(super) async fn report(&self, wait: &Wait) -> Result<Action, Error> {
        if let Some(left) = self.reporter.unreported(wait) {
            return Ok(Action::RequeueAfter(left));
        }
        // Until its owner decides, or another record has its backend, that stays as it is.
        let conditions = self.status().conditions;
        let stays = [reasons::AWAITING_ADOPTION, reasons::DELAYED_DEREGISTER]
            .contains(&wait.reason)
            && conditions.is_true(condition_types::REGISTERED);
        if !stays {
            self.write_unregistered(wait.reason, &wait.message).await?;
        }
        Ok(self.reporter.wait_event(wait))
    }

    pub(super) fn report_ownerless(&self) {
        let grace_period = self.reporter.context.options.orphan_grace_period;
        let message = format!(
            "no BackendGroup or Bind controls this record; if none adopts it within {grace_period:?}, \
             its backend is deregistered"
        );
        self.ownerless_event(Warning, reasons::OWNER_MISSING, &message);
    }

    /// Records an event about a record without a controller. One whose controller was deleted is
    /// deregistered as its user expects, which costs no event.
    fn ownerless_event(&self, event_type: EventType, reason: &'static ReportReason, message: &str) {
        if controller_of(self.record).is_none() {
            self.reporter.event(event_type, reason, message);
        }
    }

    /// Deletes the record unless it has an owner that the index does not know, because the owner's watch
    /// is behind.
    pub(super) async fn delete_ownerless(&self) -> Result<Action, Error> {
        let (context, record) = (self.reporter.context, self.record);
        match Owner::of(record) {
            Some(Owner::Group(key)) => context.refresh::<BackendGroup>(&key).await?,
            Some(Owner::Bind(key)) => context.refresh::<Bind>(&key).await?,
            None => {}
        }
        if context.index().ownership(record) != Ownership::Ownerless {
            return Ok(Action::RequeueNow);
        }
        // Whatever adopts it meanwhile changes its version.
        let deleted = context.cluster.delete_unchanged(record).await;
        if let Some(deleted) = deleted.transpose() {
            context.apply_written(record, deleted)?;
            let message =
                "its backend is deregistered, as no BackendGroup or Bind controls the record";
            self.ownerless_event(Normal, reasons::DELETED_WITHOUT_OWNER, message);
        }
        Ok(Action::AwaitChange)
    }

    /// Stores why the record is not registered, or not deregistered, if a call failed or takes long.
    pub(super) async fn conclude(&self, incomplete: Incomplete) -> Result<Action, Error> {
        match &incomplete {
            Incomplete::NotCalled(_) => {}
            Incomplete::Running(_) => self.report_draining().await?,
            Incomplete::StillRunning(_, wait) => {
                let status = self.status();
                let registered = status.conditions.find(condition_types::REGISTERED);
                match registered.filter(|it| it.status == ConditionStatus::True) {
                    // It stays registered while the call runs.
                    Some(registered) if !self.record.is_deleting() => {
                        let condition = Condition {
                            reason: wait.reason.to_string(),
                            message: wait.message.clone(),
                            ..registered.clone()
                        };
                        self.write_condition(condition).await?;
                    }
                    _ => self.write_unregistered(wait.reason, &wait.message).await?,
                }
            }
            Incomplete::Failed(failure) => {
                self.write_unregistered(failure.reason, &failure.message)
                    .await?;
                self.warn_without_gate();
            }
        }
        incomplete.into_result()
    }

    /// Stores since when a backend drains, once: the text is the same for each response.
    async fn report_draining(&self) -> Result<(), Error> {
        let is_dry_run = self.reporter.context.options.dry_run;
        match draining_since(self.record).filter(|_| !is_dry_run) {
            Some(since) => {
                let message = draining(since);
                self.write_unregistered(reasons::DRAINING, &message).await
            }
            None => Ok(()),
        }
    }

    /// Of a record that is being deleted it is not known whether it is still registered.
    async fn write_unregistered(&self, reason: &ReportReason, message: &str) -> Result<(), Error> {
        let generation = self.record.metadata.generation;
        let status = match self.record.is_deleting() {
            true => ConditionStatus::Unknown,
            false => ConditionStatus::False,
        };
        let unmet = Condition::unmet(condition_types::REGISTERED, reason, message, generation);
        self.write_condition(unmet.with_status(status)).await
    }

    async fn write_condition(&self, condition: Condition) -> Result<(), Error> {
        let mut status = self.status();
        let since = unmet_since(self.record, self.reporter.context.now());
        status.conditions = status.conditions.with(condition, since);
        self.write_status(status, false).await
    }

    /// Writes a status with what the neighbours mean for the record, and reports that if it is new.
    pub(super) async fn write_status(
        &self,
        mut status: BackendRecordStatus,
        is_ensured: bool,
    ) -> Result<(), Error> {
        let (context, record, sharing) = (self.reporter.context, self.record, &self.sharing);
        let known = self.status().conditions;
        let news = conflict::condition(record, &known, sharing, is_ensured);
        if let Some(condition) = &news {
            status.conditions = status.conditions.with(condition.clone(), context.now());
        }
        context.write_status(record, &status).await?;
        if let Some(condition) = news.filter(|news| news.is_news(&known)) {
            self.report_conflict(&condition);
        }
        Ok(())
    }

    /// Reports a conflict, or its end, about the record, and a conflict about the owner as well,
    /// which may have hundreds of such records: their messages about it are equal.
    fn report_conflict(&self, condition: &Condition) {
        let message = &condition.message;
        let Sharing::Conflict(conflict) = &self.sharing else {
            self.reporter
                .event(Normal, reasons::PARAMETERS_CONFLICT_RESOLVED, message);
            return;
        };
        let reason = reasons::PARAMETERS_CONFLICT;
        self.reporter.event(Warning, reason, message);
        if let Some(message) = conflict.message_of_owner(&self.record.spec.lb_name) {
            self.warn_owner(reason, &message);
        }
    }

    /// Warns of rollouts while a driver fails: those of pods without the readiness gate do not wait for it.
    fn warn_without_gate(&self) {
        let pod = self.record.spec.pod_backend.as_ref().and_then(|pod| {
            let namespace = self.reporter.key.object().namespace.clone();
            let key = ObjectKey::new(namespace, pod.name.as_str());
            self.reporter.context.index().find::<PodView>(&key)
        });
        if pod.is_some_and(|pod| pod.gate.is_none()) && !self.record.is_deleting() {
            let message = format!(
                "the driver fails, and pods do not have the readiness gate {READINESS_GATE}: a rollout would replace those that are registered with ones that are not"
            );
            self.warn_owner(reasons::NO_READINESS_GATE, &message);
        }
    }

    fn warn_owner(&self, reason: &'static ReportReason, message: &str) {
        let context = self.reporter.context;
        let owner = Owner::of(self.record).and_then(|owner| {
            let index = context.index();
            index.backend_owner(&owner).map(Regarding::owner)
        });
        if let Some(owner) = owner {
            let recorder = &context.recorder;
            recorder.record_change(&owner, Warning, reason, message);
        }
    }
}
