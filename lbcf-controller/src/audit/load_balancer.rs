//! The audit of one load balancer.

use super::calls::{is_offered_by, list, remove};
use super::decide::{Audited, Verdict};
use super::findings::{AllFindings, Findings};
use super::report;
use crate::api::names::ANNOTATION_REMOVE_ORPHANS;
use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancerDriver, ObjectExt, condition_types,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::Regarding;
use crate::index::{Index, RequestKey};
use crate::kinds::load_balancer::lifecycle::ManagedLoadBalancer;
use crate::process::error_text::in_full;
use crate::runtime::Context;
use kube::{Resource, ResourceExt};
use std::collections::BTreeMap;

/// Lists the backends, removes those that two audits found and that are certainly left over, and
/// reports the others. If the driver cannot list them, what was found before stays.
pub(super) async fn audit<L: ManagedLoadBalancer + Send>(
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
        let removed = report::backends("backend", removed.keys());
        let message = format!("removed {removed}, which no BackendRecord accounts for");
        tracing::warn!(load_balancer = %key, "{message}");
        let recorder = &context.recorder;
        recorder.record(&regarding, Normal, "RemovedOrphanedBackends", &message);
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
        && status.deletion_timestamp.is_none()
        && status.conditions.is_true(condition_types::CREATED)
}

fn removes_marked<K: Resource>(object: &K) -> bool {
    let value = object.annotations().get(ANNOTATION_REMOVE_ORPHANS);
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Lets a load balancer that is not audited not claim what an earlier audit found.
pub(super) async fn end_audits<L: ManagedLoadBalancer + Send>(context: &Context, lb: &L) {
    if !is_in_use(lb) {
        return;
    }
    if let Some(condition) = report::not_audited(&lb.status().conditions) {
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
    let Some(condition) = report::news(&lb.status().conditions, orphans.keys()) else {
        return;
    };
    if !store(context, lb, condition.clone()).await {
        // The event would only be repeated then.
        return;
    }
    let (event_type, reason, message) = match condition.status {
        ConditionStatus::True => (Warning, condition.reason, condition.message),
        _ => {
            let message = "BackendRecords account for all registered backends";
            (Normal, "DriftResolved".to_owned(), message.to_owned())
        }
    };
    let recorder = &context.recorder;
    recorder.record_change(regarding, event_type, &reason, &message);
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
