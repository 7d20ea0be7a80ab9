//! Executing a plan: deletions first, then updates, then creations (b113).

use super::RecordPlan;
use crate::api::{BackendRecord, BackendRecordStatus, Condition, Conditions, condition_types};
use crate::cluster::WriteError;
use crate::context::Context;
use crate::index::{StoreEvent, unit_of};
use crate::key::ObjectKey;
use crate::reconcile::Error;
use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// How many records of one owner are written at a time.
const CONCURRENT_WRITES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct PlanOutcome {
    /// The units for which a write failed.
    pub failed: BTreeSet<String>,
    /// One of the errors, a conflict only if there is no other.
    pub error: Option<Error>,
}

/// Executes as much of a plan as possible: a failed write prevents no other.
pub(crate) async fn execute(context: &Context, plan: RecordPlan) -> PlanOutcome {
    let mut outcome = PlanOutcome::default();
    let deletions = plan.delete.into_iter().map(|record| async move {
        let result = delete(context, &record).await;
        (unit_of(&record).to_owned(), result)
    });
    outcome.collect(deletions).await;
    let updates = plan.update.into_iter().map(|(old, new)| async move {
        let result = update(context, &old, &new).await;
        (unit_of(&old).to_owned(), result)
    });
    outcome.collect(updates).await;
    let creations = plan.create.into_iter().map(|record| async move {
        let created = context.cluster.create(&record).await;
        let result = apply_written(context, &record, created).await;
        (unit_of(&record).to_owned(), result.map(drop))
    });
    outcome.collect(creations).await;
    outcome
}

impl PlanOutcome {
    async fn collect<F>(&mut self, writes: impl Iterator<Item = F> + Send)
    where
        F: Future<Output = (String, Result<(), WriteError>)> + Send,
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

/// Applies the result of a write. If the record was outdated, it is read, because its watch may
/// report it much later, and until then the same write would fail again and again.
async fn apply_written(
    context: &Context,
    record: &BackendRecord,
    written: Result<BackendRecord, WriteError>,
) -> Result<BackendRecord, WriteError> {
    if matches!(written, Err(WriteError::Stale)) {
        let newest = context.cluster.get(&ObjectKey::of(record)).await?;
        // A watch event follows if it was deleted.
        if let Some(newest) = newest {
            context.apply::<BackendRecord>(StoreEvent::Written(newest));
        }
    }
    let written = written?;
    context.apply(StoreEvent::Written(written.clone()));
    Ok(written)
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
    // changes: afterwards it would be unknown that the change was never ensured (d27).
    let adopted = match adopted_status(old) {
        Some(status) => {
            let adopted = context.cluster.status(old, &status).await;
            Some(apply_written(context, old, adopted).await?)
        }
        None => None,
    };
    let current = adopted.as_ref().unwrap_or(old);
    let updated = context.cluster.spec(current, &old.spec, &new.spec).await;
    apply_written(context, old, updated).await.map(drop)
}

fn adopted_status(record: &BackendRecord) -> Option<BackendRecordStatus> {
    let status = record.status.clone()?;
    let registered = status.conditions.find(condition_types::REGISTERED)?;
    if registered.observed_generation.is_some() {
        return None;
    }
    let adopted = Condition {
        observed_generation: record.metadata.generation,
        ..registered.clone()
    };
    let conditions = status.conditions.with(adopted, Timestamp::now());
    Some(BackendRecordStatus {
        conditions,
        ..status
    })
}
