//! The status and events of a record that waits, or whose last call did not succeed.

use super::conflict::{self, Sharing};
use super::decide::draining_since;
use super::ownerless;
use super::reconcile::Reconciler;
use super::waiting::{RecordWait, draining};
use crate::api::{
    BackendGroup, BackendRecordStatus, Bind, Condition, ConditionStatus, Conditions, ObjectExt,
    condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::{Regarding, Wait, WaitEvent};
use crate::index::Owner;
use crate::runtime::operation::Incomplete;
use crate::runtime::{Action, Error};

impl Reconciler<'_> {
    /// Reports why the record waits. The driver's removal, and a new one, enqueue it.
    pub(super) async fn report_driver(
        &self,
        reason: &'static str,
        problem: &str,
    ) -> Result<Action, Error> {
        let driver = self.driver_key();
        let message = format!("spec.lbDriver: LoadBalancerDriver {driver} {problem}");
        let wait = Wait::new(reason, message, WaitEvent::Problem);
        self.context.waits.begin(&self.key, reason, None);
        self.write_unregistered(wait.reason, &wait.message).await?;
        Ok(self.wait_event(&wait))
    }

    /// Waits for an event that enqueues the record.
    pub(super) async fn wait(&self, wait: &RecordWait) -> Result<Action, Error> {
        let action = self
            .report(&wait.describe(self.record, &self.driver_key()))
            .await?;
        Ok(match wait {
            // No event follows when an owner that cannot be parsed is deleted.
            RecordWait::Adoption => action.at_most(ownerless::ADOPTION_INTERVAL),
            _ => action,
        })
    }

    /// Reports a wait that has lasted for a moment, as most do not.
    pub(super) async fn report(&self, wait: &Wait) -> Result<Action, Error> {
        let context = self.context;
        let lasted = context.waits.begin(&self.key, wait.reason, None).lasted;
        let delay = context.options.status_interval;
        if lasted < delay {
            return Ok(Action::RequeueAfter(delay - lasted));
        }
        // Until its owner decides, its backend stays as it is.
        let stays = wait.reason == reasons::AWAITING_ADOPTION
            && self
                .status()
                .conditions
                .is_true(condition_types::REGISTERED);
        if !stays {
            self.write_unregistered(wait.reason, &wait.message).await?;
        }
        Ok(self.wait_event(wait))
    }

    fn wait_event(&self, wait: &Wait) -> Action {
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
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
                            reason: wait.reason.to_owned(),
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
            }
        }
        incomplete.into_result()
    }

    /// Stores since when a backend drains, once: the text is the same for each response (d71).
    async fn report_draining(&self) -> Result<(), Error> {
        match draining_since(self.record).filter(|_| !self.context.options.dry_run) {
            Some(since) => {
                let message = draining(since);
                self.write_unregistered(reasons::DRAINING, &message).await
            }
            None => Ok(()),
        }
    }

    /// Of a record that is being deleted it is not known whether it is still registered.
    async fn write_unregistered(&self, reason: &str, message: &str) -> Result<(), Error> {
        let generation = self.record.metadata.generation;
        let mut unmet = Condition::unmet(condition_types::REGISTERED, reason, message, generation);
        if self.record.is_deleting() {
            unmet.status = ConditionStatus::Unknown;
        }
        self.write_condition(unmet).await
    }

    async fn write_condition(&self, condition: Condition) -> Result<(), Error> {
        let mut status = self.status();
        status.conditions = status.conditions.with(condition, self.context.now());
        self.write_status(status, false).await
    }

    /// Writes a status with what the neighbours mean for the record, and reports that if it is new.
    pub(super) async fn write_status(
        &self,
        mut status: BackendRecordStatus,
        is_ensured: bool,
    ) -> Result<(), Error> {
        let (context, record, sharing) = (self.context, self.record, &self.sharing);
        let known = self.status().conditions;
        let news = conflict::condition(record, &known, sharing, is_ensured);
        if let Some(condition) = &news {
            status.conditions = status.conditions.with(condition.clone(), context.now());
        }
        context.write_status(record, &status).await?;
        if let Some(condition) = news.filter(|news| conflict::is_news(&known, news)) {
            self.report_conflict(&condition);
        }
        Ok(())
    }

    /// Reports a conflict, or its end, about the record, and a conflict about the owner as well,
    /// which may have hundreds of such records: their messages about it are equal.
    fn report_conflict(&self, condition: &Condition) {
        let Sharing::Conflict(conflict) = &self.sharing else {
            self.event(Normal, "ParametersConflictResolved", &condition.message);
            return;
        };
        let reason = condition_types::PARAMETERS_CONFLICT;
        self.event(Warning, reason, &condition.message);
        let index = self.context.index();
        let owner = match Owner::of(self.record) {
            Some(Owner::Group(key)) => index
                .find::<BackendGroup>(&key)
                .map(|group| Regarding::object(&*group)),
            Some(Owner::Bind(key)) => index
                .find::<Bind>(&key)
                .map(|bind| Regarding::object(&*bind)),
            None => None,
        };
        drop(index);
        let message = conflict.message_of_owner(&self.record.spec.lb_name);
        if let (Some(owner), Some(message)) = (owner, message) {
            let recorder = &self.context.recorder;
            recorder.record_change(&owner, Warning, reason, &message);
        }
    }
}
