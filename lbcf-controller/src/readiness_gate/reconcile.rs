use super::decide::{OwnerRecords, decide};
use super::expected::{GroupService, of_bind, of_group};
use crate::api::{BackendGroup, Bind};
use crate::backend_group::LoadBalancerUse;
use crate::context::Context;
use crate::index::{Index, PodView, StoreEvent, endpoints_of};
use crate::key::{ObjectKey, Owner};
use crate::names;
use crate::reconcile::{Action, Error};

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

fn expected(index: &Index, owner: &Owner, pod: &PodView) -> Vec<super::expected::RecordNames> {
    let namespace = &owner.key().namespace;
    match owner {
        Owner::Group(key) => {
            let Some(group) = index.find::<BackendGroup>(key) else {
                return Vec::new();
            };
            let service = endpoints_of(&group).map(|selection| {
                let service = ObjectKey::new(namespace.clone(), selection.name.as_str());
                GroupService {
                    service: index.find(&service),
                    slices: index.slices_of(&service),
                }
            });
            of_group(&group, pod, service.unwrap_or_default(), |lb| {
                LoadBalancerUse::of(&index.get(&names::resolve(namespace, lb)), namespace)
            })
        }
        Owner::Bind(key) => {
            let bind = index.find::<Bind>(key);
            bind.map_or_else(Vec::new, |bind| of_bind(&bind, pod))
        }
    }
}
