//! Carrying out a plan: first what takes away, then what changes, then what adds (b113).

use super::Plan;
use crate::api::{BackendRecord, BackendRecordStatus, Condition, Conditions, condition_types};
use crate::cluster::WriteError;
use crate::context::{Context, after_failed_write};
use crate::index::{Index, unit_of};
use crate::key::ObjectKey;
use crate::work::Progress;
use futures::StreamExt;
use futures::stream;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many records of one owner are written at a time.
const WRITES: usize = 16;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The units for which something could not be done.
    pub failed: BTreeSet<String>,
    /// When that is tried again.
    pub progress: Option<Progress>,
}

impl Outcome {
    fn note(&mut self, (unit, result): (String, Result<(), WriteError>)) {
        let error = match result {
            Ok(()) | Err(WriteError::DryRun) => return,
            Err(error) => error,
        };
        self.failed.insert(unit);
        let progress = after_failed_write(&error);
        if !matches!(self.progress, Some(Progress::Retry(_))) {
            self.progress = Some(progress);
        }
    }
}

/// Does everything that can be done; one write that fails keeps no other from happening.
pub(crate) async fn carry_out(context: &Context, plan: Plan) -> Outcome {
    let mut outcome = Outcome::default();
    let mut deletions = stream::iter(plan.delete)
        .map(|record| async move { (unit_of(&record).to_owned(), delete(context, &record).await) })
        .buffer_unordered(WRITES);
    while let Some(result) = deletions.next().await {
        outcome.note(result);
    }
    let mut updates =
        stream::iter(plan.update)
            .map(|(old, new)| async move {
                (unit_of(&old).to_owned(), update(context, &old, &new).await)
            })
            .buffer_unordered(WRITES);
    while let Some(result) = updates.next().await {
        outcome.note(result);
    }
    let mut creations = stream::iter(plan.create)
        .map(|record| async move { (unit_of(&record).to_owned(), create(context, &record).await) })
        .buffer_unordered(WRITES);
    while let Some(result) = creations.next().await {
        outcome.note(result);
    }
    outcome
}

/// Takes in what became of a write. Where the record is not as it was known, it is read again: the
/// watch may take long to tell, and until then the same write would fail again and again.
async fn take_in(
    context: &Context,
    record: &BackendRecord,
    written: Result<BackendRecord, WriteError>,
) -> Result<BackendRecord, WriteError> {
    if matches!(written, Err(WriteError::Stale)) {
        let newest = context.cluster.get(&ObjectKey::of(record)).await?;
        // Where it is gone the watch tells.
        if let Some(newest) = newest {
            context.written(newest, Index::record);
        }
    }
    let written = written?;
    context.written(written.clone(), Index::record);
    Ok(written)
}

async fn delete(context: &Context, record: &BackendRecord) -> Result<(), WriteError> {
    match context.cluster.delete(record).await {
        // It is gone at once, of which the watch tells.
        Ok(None) => Ok(()),
        Ok(Some(going)) => take_in(context, record, Ok(going)).await.map(drop),
        Err(error) => take_in(context, record, Err(error)).await.map(drop),
    }
}

async fn update(
    context: &Context,
    old: &Arc<BackendRecord>,
    new: &BackendRecord,
) -> Result<(), WriteError> {
    // What the original controller registered carries no generation. It gets one before its spec
    // changes, as afterwards nobody could tell that the change was never ensured (d27).
    let adopted = match adopted(old) {
        Some(status) => {
            let known = old.status.as_ref();
            let adopted = context.cluster.status(&**old, known, &status).await;
            Some(take_in(context, old, adopted).await?)
        }
        None => None,
    };
    let current = adopted.as_ref().unwrap_or(old);
    let updated = context.cluster.spec(current, &old.spec, &new.spec).await;
    take_in(context, old, updated).await.map(drop)
}

fn adopted(record: &BackendRecord) -> Option<BackendRecordStatus> {
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

async fn create(context: &Context, record: &BackendRecord) -> Result<(), WriteError> {
    let created = context.cluster.create(record).await;
    take_in(context, record, created).await.map(drop)
}
