//! Holding the deletions of a plan back until what replaces their backends is registered, or for
//! [`Options::replacement_timeout`](crate::Options).

use super::decide::BackendsState;
use super::plan::RecordPlan;
use super::replacement::{began, is_replaced, may_wait};
use super::status::{OwnerKind, counts};
use crate::api::{BackendRecord, ObjectKey, reasons};
use crate::cluster::EventType::Warning;
use crate::cluster::Regarding;
use crate::index::{Index, Owner, PodView, Request, RequestKey, controller_of};
use crate::runtime::Context;
use crate::runtime::memory::RoomAction;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Takes the deletions out of a plan that have to wait.
pub(super) fn hold<K: OwnerKind>(context: &Context, state: &BackendsState, plan: &mut RecordPlan) {
    let owner = &state.owner;
    let mut index = context.index();
    if index.has_leaving() {
        let deleted: BTreeSet<ObjectKey> = keys(&plan.delete).collect();
        for key in keys(&state.records).filter(|key| !deleted.contains(key)) {
            index.stay(owner, &key);
        }
    }
    let is_off = context.options.replacement_timeout.is_zero();
    if plan.delete.is_empty() || state.is_deleting() || is_off {
        return;
    }
    let Some(object) = index.find::<K>(owner.key()) else {
        return;
    };
    let status = object.status().cloned().unwrap_or_default();
    plan.delete.retain(|record| {
        let pod = record.spec.pod_backend.as_ref();
        let pod = pod.map(|pod| ObjectKey::new(owner.key().namespace.clone(), pod.name.as_str()));
        let pod = pod.and_then(|pod| index.find::<PodView>(&pod));
        let waits = is_own(record, &*object)
            && may_wait(record, pod.as_deref())
            && object.has_load_balancer_of(&index, &status, record);
        !(waits && index.leave(owner, ObjectKey::of(&**record)))
    });
}

fn keys(records: &[Arc<BackendRecord>]) -> impl Iterator<Item = ObjectKey> {
    records.iter().map(|record| ObjectKey::of(&**record))
}

/// An object of the same name as the owner of a record cannot replace its backend before the record is gone.
fn is_own<K: OwnerKind>(record: &BackendRecord, object: &K) -> bool {
    let owner = controller_of(record).map(|owner| owner.uid.as_str());
    owner.is_none() || owner == object.meta().uid.as_deref()
}

/// Lets the records of an owner go whose wait is over. Returns the rest of the wait of those that stay.
pub(super) fn advance<K: OwnerKind>(context: &Context, owner: &Owner) -> Option<Duration> {
    let key = owner.request_key();
    let mut index = context.index();
    let object = index.find::<K>(owner.key())?;
    if make_room(context, owner, &mut index) {
        let message = "a backend that is not selected any more leaves before what replaces it is registered, as the quota of the load balancer has no room for both";
        let recorder = &context.recorder;
        recorder.record(
            &Regarding::owner(&*object),
            Warning,
            reasons::NO_ROOM,
            message,
        );
        return Some(Duration::ZERO);
    }
    if !index.is_replacing(owner) {
        context.memory.end_replacement(&key);
        return None;
    }
    let mut status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(&index, &status);
    let (_, counts) = counts(&index, owner, &*object, &load_balancers);
    let is_replaced = is_replaced(&counts);
    let stored = began(K::conditions(&mut status));
    let lasted = context.memory.replacing(&key, stored);
    let left = context.options.replacement_timeout.saturating_sub(lasted);
    if !is_replaced && !left.is_zero() {
        return Some(left);
    }
    let released = index.release_leaving(owner);
    drop(index);
    context.memory.end_replacement(&key);
    if !is_replaced {
        let timeout = lbcf_serving::duration::display(context.options.replacement_timeout);
        let message = format!(
            "{released} backends that are not selected any more leave after {timeout}, although what replaces them is not registered yet"
        );
        let regarding = Regarding::owner(&*object);
        let recorder = &context.recorder;
        recorder.record(
            &regarding,
            Warning,
            reasons::REPLACEMENT_TIMED_OUT,
            &message,
        );
    }
    Some(Duration::ZERO)
}

/// Breaks before it makes, where drivers refuse backends for which a quota has no room. Returns true if a record
/// leaves.
fn make_room(context: &Context, owner: &Owner, index: &mut Index) -> bool {
    let (key, memory) = (owner.request_key(), &context.memory);
    match memory.room(&key, |room| room.next(|record| index.is_changing(record))) {
        RoomAction::Wait => {}
        RoomAction::Retry(record) => {
            let request = Request::normal(RequestKey::Record(record));
            context.queue.add([request]);
        }
        RoomAction::FreeFor(refused) => {
            let released = index.release_for(owner, &refused);
            let leaves = released.is_some();
            memory.room(&key, |room| room.freed(&refused, released));
            return leaves;
        }
    }
    false
}
