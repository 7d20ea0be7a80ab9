//! Carrying out a Bind's plan, and letting the Bind go.

use super::decide::{View, decide, renamed};
use crate::api::{BackendRecord, Bind, DeregisterPolicy};
use crate::backends::{Taken, Turn, carry_out, judge};
use crate::context::Context;
use crate::index::{Index, Lookup};
use crate::key::{ObjectKey, Owner};
use crate::names::{ANNOTATION_SOURCE, FINALIZER_LOAD_BALANCER};
use crate::work::Progress;
use std::collections::BTreeSet;

/// Looks at a batch of a Bind's pods and does what its plan says, then goes on with the next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let owner = Owner::Bind(key.clone());
    let bind = context.index().get_bind(key).found();
    let Some(bind) = bind else {
        return Progress::Settled;
    };
    let is_going = bind.metadata.deletion_timestamp.is_some();
    if !is_going && !has_finalizer(&bind) && !context.options.dry_run {
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
    if let Some(progress) = outcome.progress {
        return progress;
    }
    if is_full {
        return Progress::Again;
    }
    if is_going {
        return let_go(context, &owner).await;
    }
    match judge_pods(context, &owner, &view.bind).await {
        Turn::Answered => Progress::Again,
        Turn::Wait(wait) => Progress::After(wait),
        Turn::Nothing => Progress::Settled,
    }
}

async fn judge_pods(context: &Context, owner: &Owner, bind: &Bind) -> Turn {
    if bind.spec.deregister_policy != Some(DeregisterPolicy::Webhook) {
        return Turn::Nothing;
    }
    let webhook = bind.spec.deregister_webhook.as_ref();
    judge(context, owner, bind, &bind.spec.pods, webhook).await
}

fn look(context: &Context, owner: &Owner, units: &BTreeSet<String>) -> Option<View> {
    let answer = context.answer(owner);
    let index = context.index();
    Some(View {
        bind: index.get_bind(owner.key()).found()?,
        pods: index.pods_of(owner, units),
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
