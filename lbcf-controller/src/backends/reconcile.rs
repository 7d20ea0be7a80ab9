//! Reconciling the backends of an owner, whatever its kind.

use super::batch::{UnitBatch, finish};
use super::decide::decide;
use super::execute::{PlanOutcome, execute, may_adopt};
use super::observe::{count_endpoints, observe};
use super::report::report_refusal;
use super::status::OwnerKind;
use super::verdict::enqueue_verdict;
use crate::cluster::Regarding;
use crate::index::Owner;
use crate::runtime::{Action, Context, Error};

/// Reconciles a batch of an owner's backends, or, after the last one, its status or its deletion.
pub(crate) async fn reconcile<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
) -> Result<Action, Error> {
    let batch = UnitBatch::take(context, owner);
    let Some(state) = observe::<K>(context, owner, &batch.units) else {
        batch.done(&mut PlanOutcome::default());
        return Ok(Action::AwaitChange);
    };
    let is_full = batch.is_full();
    count_endpoints(context, &state, &batch.units);
    let plan = decide(&state);
    if !may_adopt::<K>(context, &state, &plan).await? {
        return Ok(Action::RequeueNow);
    }
    let regarding = Regarding::owner(&*state.object);
    let mut outcome = execute(context, &regarding, plan).await;
    batch.done(&mut outcome);
    enqueue_verdict(context, owner, state.object.deregister_policy());
    match outcome.error {
        Some(error) if state.is_deleting() => Err(error),
        // The counts are correct even if some records were not written.
        Some(error) => {
            report_refusal(context, &regarding, &error);
            match K::write_status(context, owner, Some(&error)).await {
                Err(failure) if error.action().is_some() => Err(failure),
                _ => Err(error),
            }
        }
        None if is_full => Ok(Action::RequeueNow),
        None if state.is_deleting() => K::finish_deletion(context, owner).await,
        None => {
            let action = K::write_status(context, owner, None).await?;
            finish(context, owner, action)
        }
    }
}
