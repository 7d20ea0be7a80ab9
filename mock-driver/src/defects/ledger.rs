//! What a driver with a defect keeps of the calls that came, whichever defect it is.
//!
//! | scope | key | |
//! |---|---|---|
//! | `meant` | backend | `ensureBackend` was called for it, at some time |
//! | `taken away` | backend | `deregisterBackend` has succeeded since it was meant to be bound |
//! | `deleted` | load balancer | it was there, and `deleteLoadBalancer` has succeeded |
//! | `made here` | instance | `createLoadBalancer` has told its name |

use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::view;
use lbcf_driver_sdk::webhook::StringMap;

pub(super) fn before(at: &Context, call: &mut Call) {
    let endpoint = call.endpoint();
    call.deleted_before = at.memory.knows("deleted", &call.load_balancer_key());
    call.existed = endpoint.is_some_and(|endpoint| view::group(&at.cloud, &endpoint).is_some());
}

/// Notes what is meant to be bound, as soon as the defects have looked at what was meant before.
pub(super) fn meant(at: &Context, call: &Call) {
    if call.does("ensureBackend") {
        at.memory.put("meant", &call.backend_key(), true);
    }
}

pub(super) fn after(at: &Context, call: &Call, answer: &Answer) {
    if call.dry_run() || !answer.is_succ() {
        return;
    }
    match call.name() {
        "ensureBackend" => at.memory.forget("taken away", &call.backend_key()),
        "deregisterBackend" if at.memory.knows("meant", &call.backend_key()) => {
            at.memory.put("taken away", &call.backend_key(), true);
        }
        "deleteLoadBalancer" if call.existed => {
            at.memory.put("deleted", &call.load_balancer_key(), true);
        }
        "createLoadBalancer" => {
            if let Some(id) = instance_of(answer) {
                at.memory.put("made here", &id, true);
            }
        }
        _ => {}
    }
}

/// The name of the instance in an answer of `createLoadBalancer`.
pub(super) fn instance_of(answer: &Answer) -> Option<String> {
    let id = answer.get("lbInfo")?.get("lbID")?;
    id.as_str().map(str::to_owned)
}

/// Whether nobody ever wanted this backend on a load balancer that is there.
pub(super) fn was_never_bound(at: &Context, call: &Call) -> bool {
    call.existed && !at.memory.knows("meant", &call.backend_key())
}

/// The parameters with which the backend is bound now, if it is.
pub(super) fn bound_parameters(at: &Context, call: &Call) -> Option<StringMap> {
    let mut targets = view::targets(&at.cloud, &call.endpoint()?);
    let target = targets.remove(call.text("backendAddr"))?;
    Some(target.parameters)
}
