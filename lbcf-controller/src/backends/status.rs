//! The counts and the condition in the status of an owner of backends.

use super::counts::{BackendCounts, OwnerCounts, count};
use super::decide::usable;
use super::report::{WaitReport, view};
use super::service::SelectedService;
use super::waiting::{BackendsView, waiting};
use crate::api::{BackendOwner, Condition, Conditions, NamespacedKind, ObjectExt};
use crate::cluster::{FromWatched, Regarding, Wait, ready};
use crate::index::{Index, Indexed, LoadBalancerUse, Owner};
use crate::runtime::{Action, Context, Error};
use kube::core::object::HasStatus;
use serde::Serialize;
use std::collections::BTreeMap;

/// Differences between the kinds of owners.
pub(crate) trait OwnerKind:
    BackendOwner
    + Indexed
    + NamespacedKind
    + FromWatched
    + HasStatus<Status: Clone + Default + PartialEq + Serialize + Send + Sync>
{
    /// The load balancers that it declares, and how its backends can use them according to its status.
    fn load_balancers(
        &self,
        index: &Index,
        status: &Self::Status,
    ) -> BTreeMap<String, LoadBalancerUse>;

    /// Why it cannot use all of its load balancers.
    fn load_balancer_wait(
        &self,
        status: &Self::Status,
        load_balancers: &BTreeMap<String, LoadBalancerUse>,
    ) -> Option<Wait>;

    fn set_counts(&self, status: &mut Self::Status, counts: &BackendCounts);

    fn conditions(status: &mut Self::Status) -> &mut Vec<Condition>;

    /// Records events about its status, beyond those of its waits.
    fn report(&self, _context: &Context, _old: &Self::Status, _new: &Self::Status) {}

    /// Writes the counts and the condition of an owner that is not being deleted by [`write_counts`].
    fn write_status(
        context: &Context,
        owner: &Owner,
        error: Option<&Error>,
    ) -> impl Future<Output = Result<Action, Error>> + Send;

    /// Ends the deletion of an owner whose records are being deleted.
    fn finish_deletion(
        _context: &Context,
        _owner: &Owner,
    ) -> impl Future<Output = Result<Action, Error>> + Send {
        std::future::ready(Ok(Action::AwaitChange))
    }
}

/// Writes the counts and the condition if they changed, at most once in
/// [`Options::status_interval`](crate::Options), and reports what the owner waits for.
pub(crate) async fn write_counts<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    object: &K,
    error: Option<&Error>,
) -> Result<Action, Error> {
    let mut old = object.status().cloned().unwrap_or_default();
    let (new, wait) = counted(context, owner, object, old.clone(), error);
    let (key, regarding) = (owner.request_key(), Regarding::owner(object));
    let report = WaitReport::new(context, key.clone(), regarding, wait);
    if object.status() != Some(&new) {
        let mut counts = new.clone();
        K::conditions(&mut counts).clone_from(K::conditions(&mut old));
        if let Some(delay) = report.write_delay(counts == old) {
            return Ok(Action::RequeueAfter(delay));
        }
        context.note_status_write(key);
        context.write_status(object, &new).await?;
    }
    object.report(context, &old, &new);
    Ok(report.record())
}

/// The status with current counts, and what the owner waits for. That of one that is being deleted stays:
/// its load balancers and records report what they wait for.
pub(crate) fn counted<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    object: &K,
    mut status: K::Status,
    error: Option<&Error>,
) -> (K::Status, Option<Wait>) {
    if object.is_deleting() {
        return (status, None);
    }
    let index = &context.index();
    let load_balancers = object.load_balancers(index, &status);
    let known = OwnerCounts::of(index, owner, usable(&load_balancers).count());
    let units = |at_least| index.records.tallies.units(owner, at_least);
    let counts = count(owner, object, &known, units);
    object.set_counts(&mut status, &counts);
    let service = object.service();
    let service = service.map(|service| SelectedService::of(index, owner, service));
    let backends = BackendsView {
        owner,
        object,
        service: &service.unwrap_or_default(),
        known: &known,
        counts,
        view: &view(index, owner, object, error),
    };
    let wait = object.load_balancer_wait(&status, &load_balancers);
    let wait = wait.or_else(|| waiting(&backends));
    let condition = ready(wait.as_ref(), object.meta().generation);
    let conditions = K::conditions(&mut status);
    *conditions = conditions.with(condition, context.now());
    (status, wait)
}
