//! Keeping backends that are not ready registered, as the brake and [`min_registered`](BackendOwner::min_registered) say.

use super::decide::BackendsState;
use super::plan::RecordPlan;
use super::status::OwnerKind;
use super::unready::MESSAGE;
use crate::api::{BackendOwner, Conditions, condition_types, reasons};
use crate::cluster::EventType::Warning;
use crate::cluster::Regarding;
use crate::index::{Index, Owner, Unit, unit_of};
use crate::runtime::Context;
use crate::runtime::memory::{Brake, Limits};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// Decides which unready backends of a plan leave, and which stay.
pub(super) fn brake<K: OwnerKind>(
    context: &Context,
    state: &BackendsState,
    units: &BTreeSet<Unit>,
    plan: &mut RecordPlan,
) {
    let (owner, now) = (&state.owner, Instant::now());
    let key = owner.request_key();
    let is_idle = plan.unready.is_empty() && context.memory.brake(&key, |brake| brake.is_none());
    if is_idle {
        return;
    }
    let unready = plan.unready.iter();
    let unready: BTreeSet<Unit> = unready.map(|(it, _)| unit_of(it).into()).collect();
    let (registered, is_resumed) = {
        let index = context.index();
        let object = index.find::<K>(owner.key());
        let status = object.and_then(|object| object.status().cloned());
        let is_held = status.is_some_and(|mut status| {
            K::conditions(&mut status).is_true(condition_types::UNREADY_KEPT)
        });
        (registered(&index, owner), is_held)
    };
    let limits = limits(context, &*state.object);
    let (leaving, is_news) = context.memory.brake(&key, |brake| {
        let brake = brake.get_or_insert_with(|| match is_resumed {
            true => Box::new(Brake::resumed(registered, now)),
            false => Box::default(),
        });
        let had_held = !brake.held().is_empty();
        for unit in units.difference(&unready) {
            brake.forget(unit);
        }
        let leaving = brake.release(unready, registered, limits, now);
        (leaving, !had_held && !brake.held().is_empty())
    });
    for (record, update) in std::mem::take(&mut plan.unready) {
        match leaving.contains(unit_of(&record)) {
            true => plan.delete.push(record),
            false => plan.update.extend(update),
        }
    }
    if is_news {
        let regarding = Regarding::owner(&*state.object);
        let recorder = &context.recorder;
        recorder.record(&regarding, Warning, reasons::TOO_MANY_UNREADY, MESSAGE);
    }
}

fn limits(context: &Context, object: &dyn BackendOwner) -> Limits {
    Limits {
        interval: context.options.readiness_brake,
        min_registered: object.min_registered(),
    }
}

/// The number of an owner's units that are registered, at whichever load balancers.
fn registered(index: &Index, owner: &Owner) -> usize {
    index.records.tallies.units(owner, 1)
}

/// Marks those of the backends that are held which may leave now. Returns the time until one may.
pub(super) fn release(
    context: &Context,
    owner: &Owner,
    object: &dyn BackendOwner,
) -> Option<Duration> {
    let (limits, now) = (limits(context, object), Instant::now());
    let mut index = context.index();
    let registered = registered(&index, owner);
    context.memory.brake(&owner.request_key(), |brake| {
        let brake = brake.as_ref().filter(|brake| !brake.held().is_empty())?;
        let most = brake.most(registered, limits, now);
        if most == 0 {
            return brake.wait(limits, now);
        }
        index.mark_units(owner, brake.held().iter().take(most));
        Some(Duration::ZERO)
    })
}
