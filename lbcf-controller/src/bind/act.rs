//! Carrying out a Bind's plan, and letting the Bind go.

use super::decide::{View, decide, renamed};
use crate::api::{BackendRecord, Bind};
use crate::backends::{Taken, carry_out, wake_judge};
use crate::context::Context;
use crate::index::{Index, Lookup};
use crate::key::{BindLoadBalancerKey, ObjectKey, Owner, WorkKey};
use crate::names::{ANNOTATION_SOURCE, FINALIZER_LOAD_BALANCER};
use crate::work::{Progress, Work};
use std::collections::BTreeSet;

/// Looks at a batch of a Bind's pods and does what its plan says, then goes on with the next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let owner = Owner::Bind(key.clone());
    if let Err(progress) = context.make_sure(key, Index::bind).await {
        return progress;
    }
    let bind = context.index().get_bind(key).found();
    let Some(bind) = bind else {
        return Progress::Settled;
    };
    let is_going = bind.metadata.deletion_timestamp.is_some();
    if !is_going && !has_finalizer(&bind) && context.options.dry_run {
        // Storing it would wake them.
        let lbs = bind.spec.load_balancers.iter();
        let lbs = lbs.map(|lb| BindLoadBalancerKey {
            bind: key.clone(),
            name: lb.name.clone(),
        });
        let lbs = lbs.map(WorkKey::BindLoadBalancer).map(Work::in_turn);
        context.queue.add(lbs);
    } else if !is_going && !has_finalizer(&bind) {
        let mut finalizers = bind.metadata.finalizers.clone().unwrap_or_default();
        finalizers.push(FINALIZER_LOAD_BALANCER.to_owned());
        let then = Progress::Again;
        return context
            .write_finalizers(&*bind, &finalizers, Index::bind, then)
            .await;
    }
    let taken = Taken::next(context, &owner);
    let Some(view) = look(context, &owner, taken.units()) else {
        taken.done_but(BTreeSet::new());
        return Progress::Settled;
    };
    let is_full = taken.is_full();
    let mut plan = decide(&view);
    let name = bind.metadata.name.as_deref().unwrap_or_default();
    plan.create = plan
        .create
        .into_iter()
        .map(|record| {
            if is_taken(context, &owner, &record) {
                let ip = source(&record);
                renamed(record, name, &ip)
            } else {
                record
            }
        })
        .collect();
    let outcome = carry_out(context, plan).await;
    taken.done_but(outcome.failed);
    wake_judge(context, &owner, view.bind.spec.deregister_policy);
    if let Some(progress) = outcome.progress {
        return progress;
    }
    if is_full {
        return Progress::Again;
    }
    if is_going {
        return let_go(context, &owner).await;
    }
    Progress::Settled
}

fn look(context: &Context, owner: &Owner, units: &BTreeSet<String>) -> Option<View> {
    let index = context.index();
    let pods = index.pods_of(owner, units);
    let answer = context.answer_on(owner, pods.iter().map(|pod| &**pod));
    Some(View {
        bind: index.get_bind(owner.key()).found()?,
        pods,
        judgement: answer.map_or_else(Default::default, |answer| answer.judgement()),
        records: index.records_of(owner, units),
    })
}

/// Whether a record's name is somebody else's.
fn is_taken(context: &Context, owner: &Owner, record: &BackendRecord) -> bool {
    match context.index().get_record(&ObjectKey::of(record)) {
        Lookup::Found(known) => Owner::of(&known).as_ref() != Some(owner),
        Lookup::Unreadable => true,
        Lookup::Missing => false,
    }
}

fn source(record: &BackendRecord) -> String {
    let annotations = record.metadata.annotations.as_ref();
    let source = annotations.and_then(|annotations| annotations.get(ANNOTATION_SOURCE));
    source.cloned().unwrap_or_default()
}

/// Lets a Bind go that has neither records nor load balancers any more. The last of them wakes it.
async fn let_go(context: &Context, owner: &Owner) -> Progress {
    let (bind, has_records) = {
        let index = context.index();
        let Some(bind) = index.get_bind(owner.key()).found() else {
            return Progress::Settled;
        };
        (bind, index.has_records(owner))
    };
    let has_load_balancers = bind
        .status
        .as_ref()
        .is_some_and(|status| !status.load_balancer_statuses.is_empty());
    if has_records || has_load_balancers || !has_finalizer(&bind) {
        return Progress::Settled;
    }
    let mut finalizers = bind.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER_LOAD_BALANCER);
    let then = Progress::Settled;
    context
        .write_finalizers(&*bind, &finalizers, Index::bind, then)
        .await
}

fn has_finalizer(bind: &Bind) -> bool {
    let mut finalizers = bind.metadata.finalizers.iter().flatten();
    finalizers.any(|finalizer| finalizer == FINALIZER_LOAD_BALANCER)
}
