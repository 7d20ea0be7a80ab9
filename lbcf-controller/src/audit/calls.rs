//! Calls `listBackends`, and `deregisterBackend` for what is left over.

use super::decide::{Audited, Verdict, object_of};
use crate::api::{LoadBalancerDriver, StringMap};
use crate::cluster::Regarding;
use crate::index::{Request, RequestKey};
use crate::runtime::Context;
use crate::runtime::operation::{Operand, operate, retry_id};
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, DeregisterBackendRequest, ListBackends, ListBackendsRequest, ListedBackend,
    Webhook,
};
use std::time::Duration;
use tokio::time::Instant;

/// Limits the wait for a driver that responds with `Running`, because other load balancers wait to be
/// audited. The next audit lists this one again.
const PATIENCE: Duration = Duration::from_secs(300);

/// True if the LoadBalancerDriver names `listBackends`: drivers in other languages may not know the
/// webhook.
pub(super) fn is_offered_by(driver: &LoadBalancerDriver) -> bool {
    let mut webhooks = driver.spec.webhooks.iter();
    webhooks.any(|webhook| webhook.name == ListBackends::INFO.name)
}

/// Lists the backends; none if the driver did not succeed, which an event reports.
pub(super) async fn list(
    context: &Context,
    regarding: &Regarding,
    driver: &LoadBalancerDriver,
    lb_info: &StringMap,
) -> Option<Vec<ListedBackend>> {
    let deadline = Instant::now() + PATIENCE;
    // Not the load balancer's uid: a call for an earlier listing may still be running, and the SDK
    // would return its result, which is older than what it is compared with.
    let record_id = format!("listBackends({})", uuid::Uuid::new_v4());
    while Instant::now() < deadline {
        let request = ListBackendsRequest {
            record_id: record_id.clone(),
            retry_id: retry_id(),
            lb_info: lb_info.to_wire(),
            ..ListBackendsRequest::default()
        };
        let operand = Operand::once(regarding);
        let permits = context.call_permits(driver, lb_info).await;
        let call = operate::<ListBackends>(context, operand, driver, "ListBackends", request).await;
        drop(permits);
        match call {
            Ok(response) => return Some(with_addresses(response.backends)),
            Err(incomplete) => match incomplete.into_result() {
                Ok(action) => tokio::time::sleep(action.delay()?).await,
                Err(_) => return None,
            },
        }
    }
    None
}

/// Without those that have no address, which would be a mistake of the driver and cannot be
/// deregistered.
fn with_addresses(mut backends: Vec<ListedBackend>) -> Vec<ListedBackend> {
    let count = backends.len();
    backends.retain(|backend| !backend.backend_addr.is_empty());
    if backends.len() < count {
        let without = count - backends.len();
        tracing::warn!(without, "the driver listed backends without backendAddr");
    }
    backends
}

/// Calls `deregisterBackend`; returns whether the backend is deregistered.
pub(super) async fn remove(
    context: &Context,
    regarding: &Regarding,
    driver: &LoadBalancerDriver,
    audited: &Audited<'_>,
    backend: &ListedBackend,
) -> bool {
    // A record that gets the address meanwhile waits with ensureBackend until this call is done.
    let Some(lock) = context.addresses.lock_if_free(audited.address(backend)) else {
        return false;
    };
    let removed = is_still_orphan(context, audited, backend) && {
        let _permits = context.call_permits(driver, &audited.lb_info).await;
        let (operand, request) = (Operand::once(regarding), request(audited, backend));
        operate::<DeregisterBackend>(context, operand, driver, "RemoveOrphan", request)
            .await
            .is_ok()
    };
    let waiting = lock.release().into_iter().map(RequestKey::Record);
    context.queue.add(waiting.map(Request::normal));
    removed
}

/// A record may have got the address since the list was compared with the index.
fn is_still_orphan(context: &Context, audited: &Audited<'_>, backend: &ListedBackend) -> bool {
    let orphans = audited.orphans(&context.index(), vec![backend.clone()]);
    orphans
        .into_iter()
        .flatten()
        .any(|(_, verdict)| verdict == Verdict::Remove)
}

fn request(audited: &Audited<'_>, backend: &ListedBackend) -> DeregisterBackendRequest {
    let object = object_of(&backend.record_id).unwrap_or(&backend.record_id);
    DeregisterBackendRequest {
        record_id: format!("deregisterBackend({object})"),
        retry_id: retry_id(),
        lb_info: audited.lb_info.to_wire(),
        backend_addr: backend.backend_addr.clone(),
        parameters: backend.parameters.clone(),
        ..DeregisterBackendRequest::default()
    }
}
