//! Records that no existing BackendGroup or Bind controls (d34).

use crate::api::{BackendGroup, BackendRecord, Bind};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::Regarding;
use crate::index::{Owner, Ownership, controller_of};
use crate::runtime::{Action, Context, Error};
use std::time::Duration;

/// The interval at which a record that can be adopted checks that it still can. Usually an event enqueues
/// it; none follows when an owner that cannot be parsed is deleted.
pub(super) const ADOPTION_INTERVAL: Duration = Duration::from_secs(60);

pub(super) fn report(context: &Context, record: &BackendRecord) {
    let grace_period = context.options.orphan_grace_period;
    let message = format!(
        "no BackendGroup or Bind controls this record; if none adopts it within {grace_period:?}, \
         its backend is deregistered"
    );
    event(context, record, Warning, "OwnerMissing", &message);
}

/// Records an event about a record without a controller. One whose controller was deleted is
/// deregistered as its user expects, which costs no event.
fn event(
    context: &Context,
    record: &BackendRecord,
    event_type: EventType,
    reason: &str,
    message: &str,
) {
    if controller_of(record).is_none() {
        let (recorder, regarding) = (&context.recorder, Regarding::object(record));
        recorder.record_change(&regarding, event_type, reason, message);
    }
}

/// Deletes a record unless it has an owner that the index does not know, because the owner's watch
/// is behind.
pub(super) async fn delete(context: &Context, record: &BackendRecord) -> Result<Action, Error> {
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
        let message = "its backend is deregistered, as no BackendGroup or Bind controls the record";
        event(context, record, Normal, "DeletedWithoutOwner", message);
    }
    Ok(Action::AwaitChange)
}
