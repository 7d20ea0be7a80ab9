//! What a defective driver remembers of earlier requests, for all defects.
//!
//! | scope | key | set when |
//! |---|---|---|
//! | [`ENSURED`] | backend | `ensureBackend` was called for it |
//! | [`DEREGISTERED`] | backend | `deregisterBackend` has succeeded since `ensureBackend` was called |
//! | `deleted` | load balancer | it existed, and `deleteLoadBalancer` has succeeded |
//! | [`CREATED`] | instance | `createLoadBalancer` has returned it |

use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use lbcf_driver_sdk::webhook::StringMap;

pub(crate) const ENSURED: &str = "ensured";
pub(crate) const DEREGISTERED: &str = "deregistered";
pub(crate) const CREATED: &str = "created";
const DELETED: &str = "deleted";

pub(crate) fn before(driver: &Driver, request: &mut HookRequest) {
    let key = request.load_balancer_key();
    request.deleted_before = driver.memory.contains(DELETED, &key);
    let endpoint = request.endpoint();
    request.existed =
        endpoint.is_some_and(|endpoint| cloud_lookup::group(&driver.cloud, &endpoint).is_some());
}

/// Comes after the defects have seen which backends were ensured before.
pub(crate) fn record_ensured(driver: &Driver, request: &HookRequest) {
    if request.does("ensureBackend") {
        driver.memory.put(ENSURED, &request.backend_key(), true);
    }
}

pub(crate) fn after(driver: &Driver, request: &HookRequest, reply: &Reply) {
    if request.dry_run() || !reply.is_succ() {
        return;
    }
    let (memory, backend) = (&driver.memory, request.backend_key());
    match request.name() {
        "ensureBackend" => memory.remove(DEREGISTERED, &backend),
        "deregisterBackend" if memory.contains(ENSURED, &backend) => {
            memory.put(DEREGISTERED, &backend, true);
        }
        "deleteLoadBalancer" if request.existed => {
            memory.put(DELETED, &request.load_balancer_key(), true);
        }
        "createLoadBalancer" => {
            if let Some(id) = instance_of(reply) {
                memory.put(CREATED, &id, true);
            }
        }
        _ => {}
    }
}

/// The ID of the instance in a reply of `createLoadBalancer`.
pub(crate) fn instance_of(reply: &Reply) -> Option<String> {
    let id = reply.get("lbInfo")?.get("lbID")?;
    id.as_str().map(str::to_owned)
}

/// Whether the load balancer exists and `ensureBackend` was never called for the backend.
pub(crate) fn was_never_ensured(driver: &Driver, request: &HookRequest) -> bool {
    request.existed && !driver.memory.contains(ENSURED, &request.backend_key())
}

/// The parameters with which the backend is bound now, if it is.
pub(crate) fn bound_parameters(driver: &Driver, request: &HookRequest) -> Option<StringMap> {
    let mut targets = cloud_lookup::targets(&driver.cloud, &request.endpoint()?);
    let target = targets.remove(request.text("backendAddr"))?;
    Some(target.parameters)
}
