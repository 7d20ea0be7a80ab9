//! Backends that are not ready and stay registered, in the status of their owner.

use crate::api::{Condition, ConditionStatus, condition_types, reasons};
use crate::index::Owner;
use crate::runtime::Context;
use crate::runtime::memory::Brake;

pub(super) const MESSAGE: &str = "backends that are not Ready stay registered: too many became unready at once, or less than spec.minRegistered would be left";

/// True if some of an owner's unready backends are held.
pub(super) fn is_held(context: &Context, owner: &Owner) -> bool {
    let is_held = |brake: &mut Option<Box<Brake>>| {
        let brake = brake.as_ref();
        brake.is_some_and(|brake| !brake.held().is_empty())
    };
    context.memory.brake(&owner.request_key(), is_held)
}

/// The condition of an owner some of whose unready backends are held.
pub(super) fn condition(generation: Option<i64>) -> Condition {
    let (type_, reason) = (condition_types::UNREADY_KEPT, reasons::TOO_MANY_UNREADY);
    Condition::unmet(type_, reason, MESSAGE, generation).with_status(ConditionStatus::True)
}
