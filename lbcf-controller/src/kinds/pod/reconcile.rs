use super::decide::{OwnerRecords, decide};
use super::expected::{RecordNames, of_bind, of_group};
use crate::api::{BackendGroup, Bind, ObjectKey, names};
use crate::backends::SelectedService;
use crate::index::{Index, LoadBalancerUse, Owner, PodView, StoreEvent};
use crate::runtime::{Action, Context, Error};

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
            let expected = expected(index, &owner, pod);
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

fn expected(index: &Index, owner: &Owner, pod: &PodView) -> Vec<RecordNames> {
    let namespace = &owner.key().namespace;
    let Some(object) = index.backend_owner(owner) else {
        return Vec::new();
    };
    let service = object.service_of_endpoints();
    let service = service.map(|selection| SelectedService::of(index, owner, selection));
    let service = service.unwrap_or_default();
    match owner {
        Owner::Group(key) => index.find::<BackendGroup>(key).map(|group| {
            of_group(&group, pod, &service, |lb| {
                LoadBalancerUse::of(&index.get(&names::resolve(namespace, lb)), namespace)
            })
        }),
        Owner::Bind(key) => {
            let bind = index.find::<Bind>(key);
            bind.map(|bind| of_bind(&bind, pod, &service))
        }
    }
    .unwrap_or_default()
}
