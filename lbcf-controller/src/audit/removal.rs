//! Deregistering a backend that no record accounts for. Nothing is stored for it: the next audit finds
//! what is left.

use super::decide::{Verdict, object_of};
use super::evidence::Audited;
use crate::api::LoadBalancerDriver;
use crate::cluster::Regarding;
use crate::index::{Request, RequestKey};
use crate::runtime::Context;
use crate::runtime::operation::{Operand, operate, retry_id};
use lbcf_driver_sdk::webhook::{DeregisterBackend, DeregisterBackendRequest, ListedBackend};

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
