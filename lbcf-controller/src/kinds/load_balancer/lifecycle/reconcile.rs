//! Acts on what is decided about a load balancer.

use super::ManagedLoadBalancer;
use super::decide::{Creation, LoadBalancerAction, LoadBalancerState, Observations, decide};
use crate::api::names::{FINALIZER_LOAD_BALANCER, is_paused};
use crate::api::{ObjectExt, ObjectKey, TargetLoadBalancerStatus, reasons};
use crate::cluster::{Regarding, Wait, WaitEvent, paused};
use crate::index::Lookup;
use crate::runtime::driver_protection::protect;
use crate::runtime::memory::period;
use crate::runtime::{Action, Context, Error, Reporter};
use kube::Resource;
use std::time::Duration;

/// The interval at which a load balancer that is being deleted checks whether all records can be parsed.
const UNREADABLE_INTERVAL: Duration = Duration::from_secs(10);

pub(crate) async fn reconcile<L: ManagedLoadBalancer>(
    context: &Context,
    lb: &L,
) -> Result<Action, Error> {
    let key = lb.key();
    let period = period(
        lb.ensure_policy().as_ref(),
        context.options.min_ensure_period,
    );
    let (now, status) = (context.now(), lb.status());
    let retry_in = status.retry_after.as_deref().and_then(|stored| {
        let conditions = &status.conditions;
        context.memory.retry_in(&key, stored, conditions, now)
    });
    let driver = lb.driver().1;
    let observations = {
        let index = context.index();
        Observations {
            driver: index.get(&driver),
            no_response: context.driver_health.no_response(&driver),
            is_paused: is_paused(lb.object().meta()),
            records: index.records.count_of_load_balancer(&key),
            first_record: index.first_record(&key),
            unreadable_records: index.records.has_unreadable(),
            due: context.memory.due(&key, period),
            retry_in,
            now,
            dry_run: context.options.dry_run,
        }
    };
    let mut state = lb.state(observations);
    if context.queue.is_backoff_ended(&key) {
        state.retry_wait = None;
    }
    let mut action = decide(&state);
    if context.options.dry_run && action == LoadBalancerAction::MarkCreating {
        state.creation = Creation::Begun;
        action = decide(&state);
    }
    let reconciler = Reconciler {
        reporter: Reporter {
            context,
            key,
            regarding: Regarding::part(lb.object(), lb.part()),
        },
        lb,
        status,
        period,
        state,
    };
    reconciler.perform(action).await
}

pub(super) struct Reconciler<'a, L> {
    pub(super) reporter: Reporter<'a>,
    pub(super) lb: &'a L,
    pub(super) status: TargetLoadBalancerStatus,
    pub(super) period: Option<Duration>,
    pub(super) state: LoadBalancerState,
}

impl<L: ManagedLoadBalancer> Reconciler<'_, L> {
    async fn perform(&self, action: LoadBalancerAction) -> Result<Action, Error> {
        match (action, &self.state.observations.driver) {
            (LoadBalancerAction::Create(request), Lookup::Found(driver)) => {
                self.create(driver, request).await
            }
            (LoadBalancerAction::Ensure(request), Lookup::Found(driver)) => {
                self.ensure(driver, request).await
            }
            (LoadBalancerAction::FinishCreating(request), Lookup::Found(driver)) => {
                self.finish_creating(driver, request).await
            }
            (LoadBalancerAction::Delete(request), Lookup::Found(driver)) => {
                self.delete(driver, request).await
            }
            (action, _) => self.perform_without_call(action).await,
        }
    }

    async fn perform_without_call(&self, action: LoadBalancerAction) -> Result<Action, Error> {
        let (context, lb) = (self.reporter.context, self.lb);
        let observations = &self.state.observations;
        match action {
            LoadBalancerAction::AwaitChange => Ok(self.at_rest()),
            LoadBalancerAction::Wait(wait) => Ok(Action::RequeueAfter(wait)),
            LoadBalancerAction::AddFinalizer => {
                context
                    .add_finalizer(lb.object(), FINALIZER_LOAD_BALANCER)
                    .await?;
                Ok(Action::RequeueNow)
            }
            LoadBalancerAction::MarkCreating => self.mark_creating().await,
            LoadBalancerAction::MarkDeleting => {
                let mut status = lb.status();
                status.deletion_timestamp = Some(format!("{:.0}", observations.now));
                self.store(status).await
            }
            LoadBalancerAction::AwaitRecords => {
                let first = observations.first_record.as_deref();
                let wait = records_remaining(observations.records, first);
                self.wait(&wait).await
            }
            LoadBalancerAction::AwaitDriver => {
                let (field, driver) = lb.driver();
                let wait = driver_unreadable(&field, &driver);
                self.wait(&wait).await
            }
            LoadBalancerAction::AwaitResume => {
                self.report(&paused(&self.reporter.key.to_string())).await
            }
            LoadBalancerAction::AwaitUnreadable => {
                let action = self.wait(&unreadable_record()).await?;
                Ok(action.at_most(UNREADABLE_INTERVAL))
            }
            LoadBalancerAction::ReportDriverMissing => {
                self.report_driver(reasons::DRIVER_NOT_FOUND, "not found")
                    .await
            }
            LoadBalancerAction::ReportNoResponse(problem) => {
                self.report_no_response(&problem).await
            }
            LoadBalancerAction::ProtectDriver => {
                protect(context, &lb.driver().1).await?;
                Ok(Action::RequeueNow)
            }
            LoadBalancerAction::ReportDriverDeleting => {
                let problem = "is being deleted, and nothing new is created with it";
                self.report_driver(reasons::DRIVER_DELETING, problem).await
            }
            LoadBalancerAction::Remove => {
                lb.remove(context).await?;
                Ok(Action::AwaitChange)
            }
            // No call is decided on without a driver.
            LoadBalancerAction::Create(_)
            | LoadBalancerAction::Ensure(_)
            | LoadBalancerAction::FinishCreating(_)
            | LoadBalancerAction::Delete(_) => Ok(Action::AwaitChange),
        }
    }

    async fn mark_creating(&self) -> Result<Action, Error> {
        let status = self.with_condition(self.lb.initial_status(), self.creating());
        let action = self.store(status).await?;
        let Reporter { context, key, .. } = &self.reporter;
        context.memory.note_creation(key, true);
        Ok(action)
    }

    /// Nothing is to be done until the object changes or its period is over.
    fn at_rest(&self) -> Action {
        self.reporter.end_wait();
        if self.lb.object().is_deleting() {
            Action::AwaitChange
        } else {
            self.state.observations.due.action()
        }
    }

    pub(super) async fn store(&self, status: TargetLoadBalancerStatus) -> Result<Action, Error> {
        self.lb.write_status(self.reporter.context, status).await?;
        Ok(Action::RequeueNow)
    }

    pub(super) fn generation(&self) -> Option<i64> {
        self.lb.object().meta().generation
    }
}

/// Its driver exists and cannot be parsed.
fn driver_unreadable(field: &str, driver: &ObjectKey) -> Wait {
    let message = format!("{field}: LoadBalancerDriver {driver} cannot be parsed");
    Wait::new(reasons::DRIVER_UNREADABLE, message, WaitEvent::Problem)
}

/// Its backends are deregistered before it is deleted.
fn records_remaining(count: usize, first: Option<&str>) -> Wait {
    let first = first.map(|first| format!(", the first is {first}"));
    let message = format!(
        "waiting until all backends are deregistered; BackendRecords that remain: {count}{}",
        first.unwrap_or_default()
    );
    Wait::new(reasons::RECORDS_REMAINING, message, WaitEvent::Progress)
}

/// It is unknown whether something is registered with it.
fn unreadable_record() -> Wait {
    let message = "waiting: a BackendRecord cannot be understood and might be registered here";
    Wait::new(reasons::UNREADABLE_RECORD, message, WaitEvent::Problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d44_a_load_balancer_that_waits_for_records_names_how_many_and_the_first() {
        let three = records_remaining(3, Some("web/abc"));
        let two = records_remaining(2, None);
        assert_eq!(three.reason, "RecordsRemaining");
        assert_eq!(
            three.message,
            "waiting until all backends are deregistered; BackendRecords that remain: 3, the first is web/abc"
        );
        assert_eq!(
            three.subject(),
            two.subject(),
            "another count is no new event"
        );
    }

    #[test]
    fn d44_each_reason_of_a_load_balancer_names_what_it_waits_for() {
        let wait = driver_unreadable("spec.lbDriver", &ObjectKey::new("ns", "d"));
        assert_eq!(wait.reason, "DriverUnreadable");
        assert_eq!(
            wait.message,
            "spec.lbDriver: LoadBalancerDriver ns/d cannot be parsed"
        );
        assert_eq!(unreadable_record().reason, "UnreadableBackendRecord");
    }
}
