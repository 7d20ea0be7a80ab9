//! The audit of one load balancer.

use super::decide::{
    AllFindings, Audited, Findings, Verdict, backends, news, not_audited, object_of,
};
use crate::api::names::{ANNOTATION_REMOVE_ORPHANS, is_paused};
use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancerDriver, ObjectExt, StringMap,
    condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::Regarding;
use crate::index::{Index, Request, RequestKey};
use crate::kinds::load_balancer::lifecycle::ManagedLoadBalancer;
use crate::process::text::in_full;
use crate::runtime::Context;
use crate::runtime::operation::{Operand, operate, retry_id};
use kube::{Resource, ResourceExt};
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, HealthzResponse, ListBackends, ListedBackend, Webhook,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Audits a load balancer, or without findings lets it not claim any more what an audit found.
pub(super) async fn audit_or_end<L: ManagedLoadBalancer + Send>(
    context: &Context,
    key: &RequestKey,
    find: impl Fn(&Index) -> Option<L> + Send + Sync,
    findings: Option<&mut AllFindings>,
) {
    if let Some(findings) = findings {
        return audit(context, key, find, findings).await;
    }
    let lb = find(&context.index());
    if let Some(lb) = lb {
        end_audits(context, &lb).await;
    }
}

/// Lists the backends, removes those that two audits found and that are certainly left over, and
/// reports the others. If the driver cannot list them, what was found before stays.
async fn audit<L: ManagedLoadBalancer + Send>(
    context: &Context,
    key: &RequestKey,
    find: impl Fn(&Index) -> Option<L> + Send + Sync,
    findings: &mut AllFindings,
) {
    let find = || find(&context.index()).filter(is_in_use);
    let Some(lb) = find() else {
        findings.remove(key);
        return;
    };
    let (_, driver_key) = lb.driver();
    let driver = context.index().find::<LoadBalancerDriver>(&driver_key);
    let Some(driver) = driver.filter(|driver| is_offered_by(driver)) else {
        return;
    };
    let regarding = Regarding::part(lb.object(), lb.part());
    let before = findings.of(key).cloned();
    let audited = Audited {
        driver: driver_key.clone(),
        lb_info: lb.status().lb_info,
        began: context.index().records.uids.mark(),
        before: before.as_ref().filter(|it| it.driver == driver_key),
        removes_marked: removes_marked(lb.object()),
    };
    let Some(listed) = list(context, &regarding, &driver, &audited.lb_info).await else {
        return;
    };
    let found = audited.orphans(&context.index(), listed);
    let Some(found) = found else {
        tracing::debug!(load_balancer = %key, "not audited: it is not known which records exist");
        return;
    };
    let (mut orphans, mut removed) = (BTreeMap::new(), BTreeMap::new());
    for (backend, verdict) in found {
        let is_removed = verdict == Verdict::Remove
            && remove(context, &regarding, &driver, &audited, &backend).await;
        let result = if is_removed {
            &mut removed
        } else {
            &mut orphans
        };
        result.insert(backend.backend_addr, backend.record_id);
    }
    if !removed.is_empty() {
        let removed = backends("backend", removed.keys());
        let message = format!("removed {removed}, which no BackendRecord accounts for");
        tracing::warn!(load_balancer = %key, "{message}");
        let recorder = &context.recorder;
        recorder.record(&regarding, Normal, reasons::REMOVED_ORPHANS, &message);
    }
    // The status may have changed since.
    if let Some(current) = find() {
        publish(context, &current, &regarding, &orphans).await;
    }
    let driver = driver_key;
    findings.set(key.clone(), Findings { driver, orphans });
}

/// True if a load balancer is created and not being deleted: deletion deregisters its backends anyway.
fn is_in_use<L: ManagedLoadBalancer>(lb: &L) -> bool {
    let status = lb.status();
    !lb.object().is_deleting()
        && !is_paused(lb.object().meta())
        && status.deletion_timestamp.is_none()
        && status.conditions.is_true(condition_types::CREATED)
}

fn removes_marked<K: Resource>(object: &K) -> bool {
    let value = object.annotations().get(ANNOTATION_REMOVE_ORPHANS);
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Lets a load balancer that is not audited not claim what an earlier audit found.
async fn end_audits<L: ManagedLoadBalancer + Send>(context: &Context, lb: &L) {
    if !is_in_use(lb) {
        return;
    }
    if let Some(condition) = not_audited(&lb.status().conditions) {
        store(context, lb, condition).await;
    }
}

/// Stores the condition if it changed, with an event.
async fn publish<L: ManagedLoadBalancer>(
    context: &Context,
    lb: &L,
    regarding: &Regarding,
    orphans: &BTreeMap<String, String>,
) {
    let Some(condition) = news(&lb.status().conditions, orphans.keys()) else {
        return;
    };
    if !store(context, lb, condition.clone()).await {
        // The event would only be repeated then.
        return;
    }
    let (event_type, reason, message) = match condition.status {
        ConditionStatus::True => (Warning, reasons::ORPHANED_BACKENDS, condition.message),
        _ => {
            let message = "BackendRecords account for all registered backends";
            (Normal, reasons::DRIFT_RESOLVED, message.to_owned())
        }
    };
    let recorder = &context.recorder;
    recorder.record_change(regarding, event_type, reason, &message);
}

/// Returns whether the condition is stored; if not, the next audit tries it again.
async fn store<L: ManagedLoadBalancer>(context: &Context, lb: &L, condition: Condition) -> bool {
    let mut status = lb.status();
    status.conditions = status.conditions.with(condition, context.now());
    let stored = lb.write_status(context, status).await;
    if let Err(error) = &stored {
        let error = in_full(error);
        tracing::debug!(load_balancer = %lb.key(), error, "could not store the condition Drift");
    }
    stored.is_ok()
}

/// Limits the wait for a driver that responds with `Running`, because other load balancers wait to be
/// audited. The next audit lists this one again.
const PATIENCE: Duration = Duration::from_secs(300);

/// True if the LoadBalancerDriver names `listBackends`: drivers in other languages may not know the
/// webhook.
pub(super) fn is_offered_by(driver: &LoadBalancerDriver) -> bool {
    let mut webhooks = driver.spec.webhooks.iter();
    webhooks.any(|webhook| webhook.name == ListBackends::INFO.name)
}

/// The backends of a page, of drivers that have pages.
const PAGE: i32 = 500;

/// The most bytes of the backends of all pages; they are in memory together.
const MAX_LISTED: usize = 32 << 20;

/// Lists the backends, in pages if the driver has them; none if the driver did not succeed, which an event reports. Of a
/// listing that is not complete nothing is used.
pub(super) async fn list(
    context: &Context,
    regarding: &Regarding,
    driver: &LoadBalancerDriver,
    lb_info: &StringMap,
) -> Option<Vec<ListedBackend>> {
    let deadline = Instant::now() + PATIENCE;
    let has_pages = driver.has_feature(HealthzResponse::PAGES);
    let mut listed = Listed::default();
    let mut page = ListBackends {
        // Not the load balancer's uid: a call for an earlier listing may still be running, and the SDK
        // would return its result, which is older than what it is compared with.
        record_id: format!("listBackends({})", uuid::Uuid::new_v4()),
        lb_info: lb_info.to_wire(),
        limit: if has_pages { PAGE } else { 0 },
        ..ListBackends::default()
    };
    while Instant::now() < deadline {
        page.retry_id = retry_id();
        let operand = Operand::once(context, regarding);
        let permits = context.call_permits(driver, lb_info).await;
        let call =
            operate::<ListBackends>(operand, driver, reasons::LIST_BACKENDS, page.clone()).await;
        drop(permits);
        match call {
            Ok(mut response) => {
                let next = std::mem::take(&mut response.continue_token);
                listed.add(with_addresses(response.backends));
                if next.is_empty() || !has_pages {
                    return Some(listed.backends);
                }
                if let Some(problem) = listed.problem(&page.continue_token, &next) {
                    let recorder = &context.recorder;
                    recorder.record_change(
                        regarding,
                        Warning,
                        reasons::LIST_BACKENDS.invalid,
                        problem,
                    );
                    return None;
                }
                page.continue_token = next;
            }
            Err(incomplete) => match incomplete.into_result() {
                Ok(action) => tokio::time::sleep(action.delay()?).await,
                Err(_) => return None,
            },
        }
    }
    None
}

/// The backends of the pages so far.
#[derive(Debug, Default)]
struct Listed {
    backends: Vec<ListedBackend>,
    bytes: usize,
}

impl Listed {
    fn add(&mut self, page: Vec<ListedBackend>) {
        let texts = |backend: &ListedBackend| {
            let parameters = backend.parameters.iter();
            let parameters = parameters.map(|(name, value)| name.len() + value.len());
            backend.backend_addr.len() + backend.record_id.len() + parameters.sum::<usize>()
        };
        self.bytes +=
            page.iter().map(texts).sum::<usize>() + page.len() * size_of::<ListedBackend>();
        self.backends.extend(page);
    }

    /// Why the page after this one is not asked for: a driver in error would be listed for ever, or fill the memory.
    fn problem(&self, token: &str, next: &str) -> Option<&'static str> {
        if next == token {
            return Some(
                "the driver responded with the `continue` of the request, so that the list has no end",
            );
        }
        (self.bytes > MAX_LISTED).then_some("the driver lists more than 32 MiB of backends")
    }
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
    let Some(lock) = context.addresses.try_lock(audited.address(backend), None) else {
        return false;
    };
    let removed = is_still_orphan(context, audited, backend) && {
        let _permits = context.call_permits(driver, &audited.lb_info).await;
        let (operand, request) = (Operand::once(context, regarding), request(audited, backend));
        let call = operate::<DeregisterBackend>(operand, driver, reasons::REMOVE_ORPHAN, request);
        call.await.is_ok()
    };
    let waiting = lock.release().into_iter().map(RequestKey::Record);
    context.queue.add(waiting.map(Request::normal));
    removed
}

/// A record may have got the address since the list was compared with the index.
fn is_still_orphan(context: &Context, audited: &Audited<'_>, backend: &ListedBackend) -> bool {
    let orphans = audited.orphans(&context.index(), vec![backend.clone()]);
    let mut verdicts = orphans.into_iter().flatten().map(|(_, verdict)| verdict);
    verdicts.any(|verdict| verdict == Verdict::Remove)
}

fn request(audited: &Audited<'_>, backend: &ListedBackend) -> DeregisterBackend {
    let object = object_of(&backend.record_id).unwrap_or(&backend.record_id);
    DeregisterBackend {
        record_id: format!("deregisterBackend({object})"),
        retry_id: retry_id(),
        lb_info: audited.lb_info.to_wire(),
        backend_addr: backend.backend_addr.clone(),
        parameters: backend.parameters.clone(),
        ..DeregisterBackend::default()
    }
}
