//! The counts and the condition in the status of an owner of backends, and the events about what it waits for.

use super::counts::{BackendCounts, OwnerCounts, OwnerView, count};
use super::decide::usable;
use super::plan::taken_message;
use super::replacement;
use super::service::SelectedService;
use super::unready;
use super::waiting::{BackendsView, waiting};
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    BackendOwner, BackendRecord, Condition, Conditions, NamespacedKind, ObjectExt, condition_types,
};
use crate::cluster::EventType::Normal;
use crate::cluster::{FromWatched, Regarding, Wait, WaitEvent, ready};
use crate::index::{Index, Indexed, LoadBalancerUse, Owner, unregistered};
use crate::process::text::in_full;
use crate::runtime::{Action, Context, Error, Reporter};
use kube::ResourceExt;
use kube::core::object::HasStatus;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Differences between the kinds of owners.
pub(crate) trait OwnerKind:
    BackendOwner
    + Indexed
    + NamespacedKind
    + FromWatched
    + HasStatus<Status: Clone + Default + PartialEq + Serialize + Send + Sync>
{
    /// The reason of the event about all of its backends.
    const SYNCED: &'static ReportReason;

    /// The load balancers that it declares, and how its backends can use them according to its status.
    fn load_balancers(
        &self,
        index: &Index,
        status: &Self::Status,
    ) -> BTreeMap<String, LoadBalancerUse>;

    /// Why it cannot use all of its load balancers.
    fn load_balancer_wait(
        &self,
        status: &Self::Status,
        load_balancers: &BTreeMap<String, LoadBalancerUse>,
    ) -> Option<Wait>;

    /// True if the load balancer of a record exists, whether or not it is still declared, and may be used.
    fn has_load_balancer_of(
        &self,
        index: &Index,
        status: &Self::Status,
        record: &BackendRecord,
    ) -> bool;

    fn set_counts(&self, status: &mut Self::Status, counts: &BackendCounts);

    fn conditions(status: &mut Self::Status) -> &mut Vec<Condition>;

    /// The numbers of backends, and of those that are registered, according to a status.
    fn progress(status: &Self::Status) -> (i32, i32);

    /// Writes the counts and the condition of an owner that is not being deleted by [`write_counts`].
    fn write_status(
        context: &Context,
        owner: &Owner,
        error: Option<&Error>,
    ) -> impl Future<Output = Result<Action, Error>> + Send;

    /// Ends the deletion of an owner whose records are being deleted.
    fn finish_deletion(
        _context: &Context,
        _owner: &Owner,
    ) -> impl Future<Output = Result<Action, Error>> + Send {
        std::future::ready(Ok(Action::AwaitChange))
    }
}

/// Writes the counts and the condition if they changed, at most once in
/// [`Options::status_interval`](crate::Options), and reports what the owner waits for.
pub(crate) async fn write_counts<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    object: &K,
    error: Option<&Error>,
) -> Result<Action, Error> {
    let mut old = object.status().cloned().unwrap_or_default();
    let (new, wait) = counted(context, owner, object, old.clone(), error);
    let reporter = Reporter {
        context,
        key: owner.request_key(),
        regarding: Regarding::owner(object),
    };
    let report = WaitReport::new(&reporter, wait);
    if object.status() != Some(&new) {
        let mut counts = new.clone();
        K::conditions(&mut counts).clone_from(K::conditions(&mut old));
        if let Some(delay) = report.write_delay(counts == old) {
            return Ok(Action::RequeueAfter(delay));
        }
        context.memory.note_status_write(&reporter.key);
        context.write_status(object, &new).await?;
    }
    report_progress::<K>(&reporter, K::progress(&new));
    Ok(report.record())
}

/// Records one event about all backends that were registered, when they are: that about each would hide those about failures.
fn report_progress<K: OwnerKind>(reporter: &Reporter<'_>, (backends, registered): (i32, i32)) {
    let memory = &reporter.context.memory;
    if backends > 0
        && backends == registered
        && let Some(took) = memory.end_registering(&reporter.key)
    {
        let seconds = took.as_secs() + 1;
        let message =
            format!("all {backends} backends are registered, the last ones within {seconds} s");
        let recorder = &reporter.context.recorder;
        recorder.record(&reporter.regarding, Normal, K::SYNCED, &message);
    }
}

/// The status with current counts, and what the owner waits for. That of one that is being deleted stays:
/// its load balancers and records report what they wait for.
pub(crate) fn counted<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    object: &K,
    mut status: K::Status,
    error: Option<&Error>,
) -> (K::Status, Option<Wait>) {
    if object.is_deleting() {
        return (status, None);
    }
    let index = &context.index();
    let load_balancers = object.load_balancers(index, &status);
    let (known, counts) = counts(index, owner, object, &load_balancers);
    object.set_counts(&mut status, &counts);
    let service = object.service();
    let service = service.map(|service| SelectedService::of(index, owner, service));
    let backends = BackendsView {
        owner,
        object,
        service: &service.unwrap_or_default(),
        known: &known,
        counts,
        view: &view(index, owner, object, error),
    };
    let wait = object.load_balancer_wait(&status, &load_balancers);
    let wait = wait.or_else(|| waiting(&backends));
    let condition = ready(wait.as_ref(), object.meta().generation);
    let conditions = K::conditions(&mut status);
    *conditions = conditions.with(condition, context.now());
    let generation = object.meta().generation;
    let replacing = index.is_replacing(owner);
    let replacing = replacing.then(|| replacement::condition(generation));
    let unready = unready::is_held(context, owner).then(|| unready::condition(generation));
    for (type_, lasting) in [
        (condition_types::REPLACING, replacing),
        (condition_types::UNREADY_KEPT, unready),
    ] {
        let resolved = || Condition::unmet(type_, reasons::RESOLVED, "", generation);
        let ended = || conditions.is_true(type_).then(resolved);
        if let Some(condition) = lasting.or_else(ended) {
            *conditions = conditions.with(condition, context.now());
        }
    }
    (status, wait)
}

/// The counts of an owner that can use these load balancers.
pub(super) fn counts(
    index: &Index,
    owner: &Owner,
    object: &dyn BackendOwner,
    load_balancers: &BTreeMap<String, LoadBalancerUse>,
) -> (OwnerCounts, BackendCounts) {
    let known = OwnerCounts::of(index, owner, usable(load_balancers).count());
    let units = |at_least| index.records.tallies.units(owner, at_least);
    let counts = count(owner, object, &known, units);
    (known, counts)
}

/// An owner in the index after its records were written, or could not be.
fn view(
    index: &Index,
    owner: &Owner,
    object: &dyn BackendOwner,
    error: Option<&Error>,
) -> OwnerView {
    OwnerView {
        has_unready_pods: object.pods().is_some() && index.awaits_pods(owner),
        conflict: index
            .held(owner)
            .map(|(first, others)| taken_message(first, others)),
        troubled: index.records.first_troubled(owner).and_then(|record| {
            let cause = unregistered(record)?.cause();
            Some(format!("{}: {cause}", record.name_any()))
        }),
        is_refused: error.is_some_and(is_refusal),
    }
}

/// Others end by themselves, such as a conflict with another write.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Write(_)) && error.action().is_none()
}

/// Records an event about records that the API server refuses to store.
pub(crate) fn report_refusal(context: &Context, owner: &Regarding, error: &Error) {
    if is_refusal(error) {
        let message = in_full(error);
        let wait = Wait::new(reasons::RECORDS_REFUSED, message, WaitEvent::Problem);
        context.recorder.record_wait(owner, &wait);
    }
}

/// The wait of an owner, if it waits.
struct WaitReport<'a> {
    reporter: &'a Reporter<'a>,
    wait: Option<Wait>,
    lasted: Duration,
}

impl<'a> WaitReport<'a> {
    fn new(reporter: &'a Reporter<'a>, wait: Option<Wait>) -> Self {
        let lasted = wait.as_ref().map(|it| reporter.begin_wait(it.reason));
        if lasted.is_none() {
            reporter.end_wait();
        }
        Self {
            reporter,
            wait,
            lasted: lasted.unwrap_or_default(),
        }
    }

    /// The time that the write of another status has to wait. One in which only the reason differs is
    /// not worth a write before the wait has lasted for a moment: usually the counts follow.
    fn write_delay(&self, are_counts_equal: bool) -> Option<Duration> {
        let Reporter { context, key, .. } = self.reporter;
        let interval = context.options.status_interval;
        if are_counts_equal && self.wait.is_some() && self.lasted < interval {
            return Some(interval - self.lasted);
        }
        context.memory.status_wait(key)
    }

    /// Records an event if it is time to, and returns when to do so next.
    fn record(&self) -> Action {
        let Some(wait) = &self.wait else {
            return Action::AwaitChange;
        };
        let options = &self.reporter.context.options;
        let earliest = match wait.event {
            WaitEvent::Elsewhere => return Action::AwaitChange,
            WaitEvent::IfLong => options.long_wait,
            WaitEvent::Problem | WaitEvent::Progress => options.status_interval,
        };
        if self.lasted < earliest {
            return Action::RequeueAfter(earliest - self.lasted);
        }
        self.reporter.wait_event(wait)
    }
}
