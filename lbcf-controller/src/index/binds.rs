//! The effects of a change of a Bind.

use super::store::Diff;
use crate::api::names::is_paused;
use crate::api::{
    Bind, Conditions, ObjectExt, ObjectKey, TargetLoadBalancerStatus, condition_types, names,
};
use crate::index::request::{BindLoadBalancerKey, RequestKey};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct BindChange {
    /// True if its desired records may differ.
    pub(super) records: bool,
    /// True if the Bind itself has to be reconciled.
    pub(super) bind: bool,
    /// The load balancers of it that have to be reconciled.
    pub(super) load_balancers: BTreeSet<String>,
}

impl BindChange {
    /// A load balancer's own status writes do not enqueue it, because that would end its backoff.
    pub(super) fn of(diff: &Diff<Bind>) -> Self {
        let (old, new) = match (&diff.old, &diff.new) {
            (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => (old, new),
            // Nothing is created before the finalizer is stored, which enqueues them.
            (_, Some(new)) if !new.has_finalizer(names::FINALIZER_LOAD_BALANCER) => {
                return Self::whole(BTreeSet::new());
            }
            (_, Some(bind)) | (Some(bind), None) => return Self::whole(names_of(bind)),
            (None, None) => return Self::default(),
        };
        if is_paused(&old.metadata) != is_paused(&new.metadata)
            || old.spec != new.spec
            || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
            || old.metadata.finalizers != new.metadata.finalizers
        {
            return Self::whole(&names_of(old) | &names_of(new));
        }
        let removed = &status_names(old) - &status_names(new);
        Self {
            records: use_of(old) != use_of(new),
            bind: !removed.is_empty(),
            load_balancers: removed,
        }
    }

    const fn whole(load_balancers: BTreeSet<String>) -> Self {
        Self {
            records: true,
            bind: true,
            load_balancers,
        }
    }
}

fn statuses(bind: &Bind) -> impl Iterator<Item = &TargetLoadBalancerStatus> {
    let status = bind.status.iter();
    status.flat_map(|status| &status.load_balancer_statuses)
}

/// The drivers of a Bind's load balancers, desired or existing, and the driver of its deregister
/// webhook.
pub(super) fn drivers(key: &ObjectKey, bind: &Bind) -> BTreeSet<(ObjectKey, RequestKey)> {
    let desired = bind.spec.load_balancers.iter();
    let desired = desired.map(|lb| (&lb.driver, &lb.name));
    let existing = statuses(bind).map(|lb| (&lb.driver, &lb.name));
    let lbs = desired.chain(existing).map(|(driver, name)| {
        let (bind, name) = (key.clone(), name.clone());
        let lb = BindLoadBalancerKey { bind, name };
        (driver, RequestKey::BindLoadBalancer(lb))
    });
    let webhook = bind.spec.deregister_webhook.iter();
    let webhook = webhook.map(|webhook| (&webhook.driver_name, RequestKey::Bind(key.clone())));
    lbs.chain(webhook)
        .map(|(driver, request)| (names::resolve(&key.namespace, driver), request))
        .collect()
}

/// The names of a Bind's load balancers, desired or existing.
pub(super) fn names_of(bind: &Bind) -> BTreeSet<String> {
    let desired = bind.spec.load_balancers.iter().map(|lb| lb.name.clone());
    desired.chain(status_names(bind)).collect()
}

fn status_names(bind: &Bind) -> BTreeSet<String> {
    statuses(bind).map(|lb| lb.name.clone()).collect()
}

/// True if a load balancer of a Bind is deleted when its last record is.
pub(super) fn is_deleting(bind: &Bind, name: &str) -> bool {
    bind.is_deleting()
        || statuses(bind).any(|lb| lb.name == name && lb.deletion_timestamp.is_some())
}

/// The state of a Bind's load balancers that records depend on.
fn use_of(bind: &Bind) -> impl PartialEq + use<> {
    let uses = statuses(bind).map(|lb| {
        (
            lb.name.clone(),
            lb.driver.clone(),
            lb.lb_info.clone(),
            lb.deletion_timestamp.is_some(),
            lb.conditions.is_true(condition_types::CREATED),
        )
    });
    uses.collect::<Vec<_>>()
}
