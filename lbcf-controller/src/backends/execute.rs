//! Executing a plan: deletions first, then updates, then creations.

use super::address::Addresses;
use super::decide::BackendsState;
use super::plan::{RecordPlan, TakenNames};
use crate::api::{
    BackendRecord, BackendRecordStatus, Condition, Conditions, NamespacedKind, ObjectExt,
    ObjectKey, condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::{Regarding, WriteError};
use crate::index::{Indexed, StoreEvent, Unit, controller_of, unit_of};
use crate::runtime::{Context, Error};
use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of records of one owner that are written at a time.
const CONCURRENT_WRITES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct PlanOutcome {
    /// The units for which a write failed.
    pub failed: BTreeSet<Unit>,
    /// The units of records that cannot be created until their names are free, with what has them.
    pub taken: BTreeMap<Unit, String>,
    /// One of the errors, a conflict only if there is no other.
    pub error: Option<Error>,
}

/// Executes as much of an owner's plan as possible: a failed write prevents no other.
pub(crate) async fn execute(
    context: &Context,
    state: &BackendsState,
    mut plan: RecordPlan,
) -> PlanOutcome {
    let owner = &Regarding::owner(&*state.object);
    let mut outcome = PlanOutcome::default();
    outcome.take_taken_names(context, owner, &mut plan);
    let deletions = plan.delete.into_iter().map(|record| async move {
        let result = delete(context, &record).await;
        (unit_of(&record).into(), result)
    });
    outcome.collect(deletions).await;
    let adopted = &AtomicUsize::new(0);
    let updates = plan.update.into_iter().map(|(old, new)| async move {
        let result = update(context, &old, &new).await;
        if result.is_ok() && controller_of(&old).is_none() {
            adopted.fetch_add(1, Ordering::Relaxed);
        }
        (unit_of(&old).into(), result)
    });
    outcome.collect(updates).await;
    let adopted = adopted.load(Ordering::Relaxed);
    if adopted > 0 {
        let message = format!("adopted {adopted} BackendRecords that had no owner");
        let recorder = &context.recorder;
        recorder.record(owner, Normal, reasons::ADOPTED_RECORDS, &message);
    }
    let addresses = &Addresses::new(context);
    addresses.read_pods(state, &plan.create).await;
    let creations = plan.create.into_iter().map(|record| async move {
        let unit = unit_of(&record).into();
        (unit, create(context, addresses, record).await)
    });
    outcome.collect(creations).await;
    outcome
}

impl PlanOutcome {
    /// Reports records that cannot be created because their names are taken.
    fn take_taken_names(&mut self, context: &Context, owner: &Regarding, plan: &mut RecordPlan) {
        let taken = {
            let index = context.index();
            TakenNames::take_from(plan, |record| index.get(&ObjectKey::of(record)))
        };
        if let Some(message) = taken.message() {
            let recorder = &context.recorder;
            recorder.record_change(owner, Warning, reasons::RECORD_CONFLICT, &message);
        }
        self.taken = taken.units;
    }

    async fn collect<F>(&mut self, writes: impl Iterator<Item = F> + Send)
    where
        F: Future<Output = (Unit, Result<(), WriteError>)> + Send,
    {
        let mut results = stream::iter(writes).buffer_unordered(CONCURRENT_WRITES);
        while let Some((unit, result)) = results.next().await {
            let error = match result {
                Ok(()) | Err(WriteError::DryRun | WriteError::NamespaceTerminating) => continue,
                Err(error) => Error::Write(error),
            };
            self.failed.insert(unit);
            if self.error.as_ref().is_none_or(|old| old.action().is_some()) {
                self.error = Some(error);
            }
        }
    }
}

/// Applies the result of a write. If the record was outdated, or may have been written all the same, it is read, because its
/// watch may report it much later, and until then the same would be done again and again.
async fn apply_written(
    context: &Context,
    record: &BackendRecord,
    written: Result<BackendRecord, WriteError>,
) -> Result<BackendRecord, WriteError> {
    if written.as_ref().is_err_and(WriteError::is_uncertain) {
        let newest = context.cluster.get(&ObjectKey::of(record)).await?;
        // A watch event follows if it was deleted.
        if let Some(newest) = newest {
            context.apply::<BackendRecord>(StoreEvent::Read(newest));
        }
    }
    let written = written?;
    context.apply(StoreEvent::Written(written.clone()));
    Ok(written)
}

async fn create(
    context: &Context,
    addresses: &Addresses<'_>,
    mut record: BackendRecord,
) -> Result<(), WriteError> {
    let address = addresses.of(&record).await;
    context.sign(&mut record, address.as_deref());
    let created = context.cluster.create(&record).await;
    let result = apply_written(context, &record, created).await;
    if result.is_err() {
        context.first_answers.take(&ObjectKey::of(&record));
    }
    result.map(drop)
}

async fn delete(context: &Context, record: &BackendRecord) -> Result<(), WriteError> {
    let written = match context.cluster.delete(record).await {
        // It no longer exists; a watch event follows.
        Ok(None) => return Ok(()),
        Ok(Some(deleting)) => Ok(deleting),
        Err(error) => Err(error),
    };
    apply_written(context, record, written).await.map(drop)
}

async fn update(
    context: &Context,
    old: &BackendRecord,
    new: &BackendRecord,
) -> Result<(), WriteError> {
    // Conditions of the original controller have no generation. They get one before the spec
    // changes: afterwards it would be unknown that the change was never ensured.
    let status = status_with_generation(old, context.now()).filter(|_| old.spec != new.spec);
    let versioned = match status {
        Some(status) => {
            let versioned = context.cluster.status(old, &status).await;
            Some(apply_written(context, old, versioned).await?)
        }
        None => None,
    };
    let current = versioned.as_ref().unwrap_or(old);
    let updated = context.cluster.update(current, old, new).await;
    apply_written(context, old, updated).await.map(drop)
}

fn status_with_generation(record: &BackendRecord, now: Timestamp) -> Option<BackendRecordStatus> {
    let status = record.status.clone()?;
    let registered = status.conditions.find(condition_types::REGISTERED)?;
    if registered.observed_generation.is_some() {
        return None;
    }
    let versioned = Condition {
        observed_generation: record.metadata.generation,
        ..registered.clone()
    };
    let conditions = status.conditions.with(versioned, now);
    Some(BackendRecordStatus {
        conditions,
        ..status
    })
}

/// True if a plan's owner may adopt the records that the plan lets it adopt, if any.
///
/// The owner is read live, as Kubernetes' controllers do before they adopt: its watch may be behind
/// that of records. The garbage collector would delete the records of an owner that is gone.
pub(crate) async fn may_adopt<K: Indexed + NamespacedKind>(
    context: &Context,
    state: &BackendsState,
    plan: &RecordPlan,
) -> Result<bool, Error> {
    if !plan.adopts() {
        return Ok(true);
    }
    let (key, uid) = (state.owner.key(), &state.object.metadata().uid);
    context.refresh::<K>(key).await?;
    let current = context.index().find::<K>(key);
    Ok(current.is_some_and(|current| current.meta().uid == *uid && !current.is_deleting()))
}
