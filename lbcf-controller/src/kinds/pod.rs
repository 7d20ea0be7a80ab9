//! The readiness gate of pods, which says whether all backends of a pod are registered.
//!
//! A rollout of a workload whose pods have the gate waits for the load balancer, not only for the
//! containers. [`decide`] has the rules, [`expected`] which records a pod should have, and
//! [`reconcile`] writes the condition.

mod decide;
mod expected;

use crate::api::{BackendGroup, Bind, ObjectKey};
use crate::backends::{OwnerKind, SelectedService};
use crate::index::{Index, Owner, PodView, StoreEvent};
use crate::runtime::{Action, Context, Error};
use decide::{OwnerRecords, decide};
use expected::{RecordNames, expected};

/// Writes the condition of a pod's readiness gate unless it is so already. Everything that decides about it is in
/// the index, so that a process that ends before the write leaves nothing undone.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let decided = {
        let index = context.index();
        index.find::<PodView>(key).and_then(|pod| {
            let condition = decide(&pod, &owners(&index, &pod))?;
            Some((pod, condition))
        })
    };
    if let Some((pod, condition)) = decided {
        let now = context.now();
        let written = context.cluster.pod_gate(&pod, &condition, now).await?;
        context.apply(StoreEvent::Written(written));
    }
    Ok(Action::AwaitChange)
}

fn owners(index: &Index, pod: &PodView) -> Vec<OwnerRecords> {
    let owners = index.owners_of_pod(&pod.key).into_iter();
    owners
        .map(|owner| {
            let expected = match &owner {
                Owner::Group(_) => expected_of::<BackendGroup>(index, &owner, pod),
                Owner::Bind(_) => expected_of::<Bind>(index, &owner, pod),
            };
            let registered = expected.iter().filter(|names| {
                let mut names = names.iter();
                names.any(|name| index.is_registered_by(&owner, name))
            });
            OwnerRecords {
                registered: registered.count(),
                expected: expected.len(),
                owner,
            }
        })
        .collect()
}

fn expected_of<K: OwnerKind>(index: &Index, owner: &Owner, pod: &PodView) -> Vec<RecordNames> {
    let Some(object) = index.find::<K>(owner.key()) else {
        return Vec::new();
    };
    let service = object.service_of_endpoints();
    let service = service.map(|selection| SelectedService::of(index, owner, selection));
    let status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(index, &status);
    expected(
        owner,
        &*object,
        &load_balancers,
        pod,
        &service.unwrap_or_default(),
    )
}
