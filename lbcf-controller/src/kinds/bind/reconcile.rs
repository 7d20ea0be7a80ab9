use super::decide::{BindCandidates, BindState, decide};
use super::records::renamed;
use super::status;
use crate::api::names::FINALIZER_LOAD_BALANCER;
use crate::api::{BackendOwner, BackendRecord, Bind, ObjectExt, ObjectKey};
use crate::backends::{
    PlanOutcome, UnitBatch, count_endpoints, enqueue_verdict, execute, finish, may_adopt,
    observe_service, report_refusal, source_of,
};
use crate::cluster::Regarding;
use crate::index::{BindLoadBalancerKey, Lookup, Owner, Request, RequestKey, Unit};
use crate::runtime::{Action, Context, Error};
use std::collections::BTreeSet;

/// Reconciles a batch of a Bind's backends, or, after the last one, its deletion.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let owner = Owner::Bind(key.clone());
    context.confirm::<Bind>(key).await?;
    let bind = context.index().find::<Bind>(key);
    let Some(bind) = bind else {
        return Ok(Action::AwaitChange);
    };
    if !bind.is_deleting() && !bind.has_finalizer(FINALIZER_LOAD_BALANCER) {
        if !context.options.dry_run {
            context
                .add_finalizer(&*bind, FINALIZER_LOAD_BALANCER)
                .await?;
            return Ok(Action::RequeueNow);
        }
        // Storing the finalizer would enqueue them.
        let names = bind.spec.load_balancers.iter().map(|lb| lb.name.clone());
        let lbs = names.map(|name| BindLoadBalancerKey {
            bind: key.clone(),
            name,
        });
        let requests = lbs.map(RequestKey::BindLoadBalancer).map(Request::normal);
        context.queue.add(requests);
    }
    let batch = UnitBatch::take(context, &owner);
    let Some(state) = observe(context, &owner, &batch.units) else {
        batch.done(&mut PlanOutcome::default());
        return Ok(Action::AwaitChange);
    };
    let is_full = batch.is_full();
    if let BindCandidates::Service(candidates) = &state.candidates {
        count_endpoints(context, &owner, &*state.bind, candidates, &batch.units);
    }
    let mut plan = decide(&state);
    if !may_adopt(context, &*state.bind, &plan).await? {
        return Ok(Action::RequeueNow);
    }
    for record in &mut plan.create {
        if is_name_taken(context, &owner, record) {
            let ip = source_of(record).cloned().unwrap_or_default();
            if let Some(other) = renamed(record, &key.name, &ip) {
                record.metadata.name = Some(other);
            }
        }
    }
    let regarding = Regarding::object(&*state.bind);
    let mut outcome = execute(context, &regarding, plan).await;
    batch.done(&mut outcome);
    enqueue_verdict(context, &owner, state.bind.spec.deregister_policy);
    match outcome.error {
        Some(error) if bind.is_deleting() => Err(error),
        Some(error) => {
            report_refusal(context, &regarding, &error);
            match status::write_counts(context, &owner, Some(&error)).await {
                Err(failure) if error.action().is_some() => Err(failure),
                _ => Err(error),
            }
        }
        None if is_full => Ok(Action::RequeueNow),
        None if bind.is_deleting() => finish_deletion(context, &owner).await,
        None => {
            let action = status::write_counts(context, &owner, None).await?;
            finish(context, &owner, action)
        }
    }
}

fn observe(context: &Context, owner: &Owner, units: &BTreeSet<Unit>) -> Option<BindState> {
    let index = context.index();
    let bind = index.find::<Bind>(owner.key())?;
    let records = index.records_of(owner, units);
    let candidates = if let Some(service) = bind.service() {
        let selection = (service, bind.deregister_policy());
        let candidates = observe_service(context, &index, owner, selection, units, &records);
        BindCandidates::Service(candidates)
    } else {
        let pods = index.pods_of(owner, units);
        let verdict = context.verdicts.current(owner, &pods);
        BindCandidates::Pods(pods, verdict)
    };
    Some(BindState {
        bind,
        candidates,
        records,
    })
}

/// Whether a record of another owner has this name.
fn is_name_taken(context: &Context, owner: &Owner, record: &BackendRecord) -> bool {
    match context.index().get::<BackendRecord>(&ObjectKey::of(record)) {
        Lookup::Found(existing) => Owner::of(&existing).as_ref() != Some(owner),
        Lookup::Unreadable => true,
        Lookup::Missing => false,
    }
}

/// Removes the finalizer of a Bind that has neither records nor load balancers any more. The
/// removal of the last of them enqueues it.
async fn finish_deletion(context: &Context, owner: &Owner) -> Result<Action, Error> {
    let (bind, has_records) = {
        let index = context.index();
        let bind = index.find::<Bind>(owner.key());
        (bind, index.records.has_records(owner))
    };
    let is_empty = |bind: &Bind| {
        let status = bind.status.as_ref();
        status.is_none_or(|status| status.load_balancer_statuses.is_empty())
    };
    if let Some(bind) = bind
        && !has_records
        && is_empty(&bind)
        && bind.has_finalizer(FINALIZER_LOAD_BALANCER)
    {
        context
            .remove_finalizer(&*bind, FINALIZER_LOAD_BALANCER)
            .await?;
    }
    Ok(Action::AwaitChange)
}
