use super::decide::BackendsState;
use super::plan::RecordPlan;
use crate::api::{NamespacedKind, ObjectExt};
use crate::index::Indexed;
use crate::runtime::{Context, Error};

/// Checks that a plan's owner still exists before it adopts records; true if the plan adopts none.
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
