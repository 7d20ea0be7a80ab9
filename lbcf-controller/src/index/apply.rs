//! Applying an event of each kind to the index, and the requests that follow from it.

use super::binds::{self, BindChange};
use super::load_balancer_use::not_created;
use super::pause::is_pause_changed;
use super::selections::PodRule;
use super::store::Diff;
use super::users::service_key;
use super::{Index, Indexed, NodeView, PodView, ServiceView, Store, StoreEvent, gates};
use crate::api::{
    BackendGroup, BackendOwner, Bind, Conditions, DeregisterPolicy, LoadBalancer,
    LoadBalancerDriver, ObjectExt, ObjectKey, condition_types, names,
};
use crate::index::request::{BindLoadBalancerKey, Owner, Request, RequestKey, Unit};
use kube::Resource;
use std::collections::BTreeSet;

impl Indexed for LoadBalancerDriver {
    const KIND: &'static str = "LoadBalancerDriver";

    fn store(index: &Index) -> &Store<Self> {
        &index.drivers
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.drivers.apply(event) {
            requests.push(Request::normal(RequestKey::Driver(key.clone())));
            requests.extend(index.service_classes.driver_changed(&key, &diff));
            if diff.is_change(|old, new| old.spec != new.spec) {
                requests.push(Request::normal(RequestKey::DriverHealth(key.clone())));
                // What waits to retry a call to this driver need not wait any longer.
                requests.extend(index.by_driver.get(&key).cloned().map(Request::normal));
            }
        }
        requests
    }
}

impl Indexed for LoadBalancer {
    const KIND: &'static str = "LoadBalancer";

    fn store(index: &Index) -> &Store<Self> {
        &index.load_balancers
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        // The reconciliation that wrote the object continues. A request for its own write would
        // call the driver again before the time that it asked for.
        let is_own = matches!(event, StoreEvent::Written(_) | StoreEvent::Read(_));
        for (key, diff) in index.load_balancers.apply(event) {
            requests.extend(index.update_driver_users(&diff, |lb| {
                let driver = names::resolve(&key.namespace, &lb.spec.lb_driver);
                [(driver, RequestKey::LoadBalancer(key.clone()))]
            }));
            index.claims.load_balancer_changed(&key, &diff);
            let of_service = index.service_classes.load_balancer_changed(&key, &diff);
            requests.extend(of_service);
            let request = RequestKey::LoadBalancer(key.clone());
            let records = index.records.of_load_balancer(&request).cloned();
            requests.extend(Index::resumed(&diff, records));
            if is_load_balancer_changed(&diff) && (!is_own || diff.new.is_none()) {
                requests.push(Request::normal(request));
            }
            if diff.old.as_deref().map(use_of) != diff.new.as_deref().map(use_of) {
                for group in index.groups_by_load_balancer.get(&key) {
                    let owner = Owner::Group(group.clone());
                    index.pending.mark_all(&owner);
                    requests.push(Request::normal(RequestKey::Group(group.clone())));
                    requests.extend(gates::of_owner(&index.selections, &owner));
                }
            } else if diff.is_change(|old, new| not_created(old) != not_created(new)) {
                // Their conditions quote why it is not created.
                let groups = index.groups_by_load_balancer.get(&key).cloned();
                requests.extend(groups.map(RequestKey::Group).map(Request::batched));
            }
        }
        requests
    }
}

/// Status writes do not enqueue a load balancer, because that would end its backoff. Nor does the controller's finalizer, whose
/// event may arrive before the response to its write; its loss does.
fn is_load_balancer_changed(diff: &Diff<LoadBalancer>) -> bool {
    let is_kept = |lb: &LoadBalancer| lb.has_finalizer(names::FINALIZER_LOAD_BALANCER);
    is_pause_changed(diff)
        || diff.is_change(|old, new| {
            let lost = is_kept(old) && !is_kept(new);
            let (old, new) = (&old.metadata, &new.metadata);
            lost || old.generation != new.generation
                || old.deletion_timestamp != new.deletion_timestamp
                || old.uid != new.uid
        })
}

/// The state of a load balancer that groups depend on.
fn use_of(lb: &LoadBalancer) -> impl PartialEq + use<> {
    let status = lb.status.clone().unwrap_or_default();
    (
        lb.is_deleting(),
        status.conditions.is_true(condition_types::CREATED),
        status.lb_info,
        lb.spec.scope.clone(),
        lb.spec.lb_driver.clone(),
    )
}

impl Indexed for BackendGroup {
    const KIND: &'static str = "BackendGroup";

    fn store(index: &Index) -> &Store<Self> {
        &index.groups
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.groups.apply(event) {
            requests.extend(index.service_classes.group_changed(&key, &diff));
            index.groups_by_load_balancer.update(&diff, |group| {
                let names = group.spec.load_balancer_names();
                let lbs = names.map(|lb| (names::resolve(&key.namespace, lb), key.clone()));
                lbs.collect::<Vec<_>>()
            });
            requests.extend(index.update_driver_users(&diff, |group| {
                let webhook = group.spec.deregister_webhook.as_ref()?;
                let driver = names::resolve(&key.namespace, &webhook.driver_name);
                Some((driver, RequestKey::Group(key.clone())))
            }));
            let owner = Owner::Group(key.clone());
            let is_changed = is_group_changed(&diff);
            requests.extend(Index::resumed(&diff, index.records.of_owner(&owner)));
            requests.extend(index.owner_changed(&owner, &diff, is_changed));
            if is_changed {
                if diff.new.is_some() {
                    index.pending.mark_all(&owner);
                }
                requests.push(Request::normal(RequestKey::Group(key)));
            }
        }
        requests
    }
}

/// Status writes do not enqueue a group.
fn is_group_changed(diff: &Diff<BackendGroup>) -> bool {
    is_pause_changed(diff)
        || diff.is_change(|old, new| {
            old.spec != new.spec
                || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                || old.metadata.uid != new.metadata.uid
        })
}

impl Indexed for Bind {
    const KIND: &'static str = "Bind";

    fn store(index: &Index) -> &Store<Self> {
        &index.binds
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.binds.apply(event) {
            let drivers = |bind: &Self| binds::drivers(&key, bind);
            requests.extend(index.update_driver_users(&diff, drivers));
            index.claims.bind_changed(&key, &diff);
            let change = BindChange::of(&diff);
            let owner = Owner::Bind(key.clone());
            requests.extend(Index::resumed(&diff, index.records.of_owner(&owner)));
            let is_changed = change.bind || change.records;
            requests.extend(index.owner_changed(&owner, &diff, is_changed));
            if diff.new.is_some() && change.records {
                index.pending.mark_all(&owner);
            }
            if is_changed {
                requests.push(Request::normal(RequestKey::Bind(key.clone())));
            }
            requests.extend(change.load_balancers.into_iter().map(|name| {
                let bind = key.clone();
                Request::normal(RequestKey::BindLoadBalancer(BindLoadBalancerKey {
                    bind,
                    name,
                }))
            }));
        }
        requests
    }
}

impl Indexed for PodView {
    const KIND: &'static str = "Pod";

    fn store(index: &Index) -> &Store<Self> {
        &index.pods.store
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.pods.apply(event) {
            let (old, new) = (diff.old.as_deref(), diff.new.as_deref());
            requests.extend(new.and_then(|new| gates::of_pod(&key, new)));
            let owners = index.selections.pod_changed(&key, old, new);
            if !diff.is_change(|old, new| !old.is_equivalent(new)) {
                continue;
            }
            let may_deregister = new.is_none_or(|pod| !pod.is_available());
            for owner in owners {
                if let Some(service) = index.service_of_endpoints(&owner) {
                    for unit in index.units_behind(&owner, &service, &key) {
                        index.pending.mark(&owner, unit, may_deregister);
                    }
                } else if index.is_on_nodes(&owner) {
                    for node in [old, new].into_iter().flatten().map(|pod| &pod.node) {
                        index.pending.mark(&owner, node.as_str(), may_deregister);
                    }
                } else {
                    index
                        .pending
                        .mark(&owner, Unit::clone(&key.name), may_deregister);
                }
                requests.push(Request::high_if(may_deregister, owner.request_key()));
            }
            if may_deregister {
                // Its owners may no longer select it.
                for (owner, unit) in index.leaving_of_pod(&key) {
                    index.pending.mark(&owner, unit, true);
                    requests.push(Request::high_if(true, owner.request_key()));
                }
            }
            let records = index.records.without_address(&key).map(RequestKey::Record);
            requests.extend(records.map(Request::normal));
        }
        requests
    }
}

impl Indexed for ServiceView {
    const KIND: &'static str = "Service";

    fn store(index: &Index) -> &Store<Self> {
        &index.services
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.services.apply(event) {
            requests.extend(index.service_classes.service_changed(&key, &diff));
            // A service has no generation that would tell.
            if !diff.is_change(|old, new| !old.is_equivalent(new)) {
                continue;
            }
            for owner in index.service_owners.of_service(&key) {
                requests.extend(gates::of_owner(&index.selections, &owner));
                index.update_selection(&owner);
                requests.extend(gates::of_owner(&index.selections, &owner));
                index.pending.mark_all(&owner);
                requests.push(Request::high_if(true, owner.request_key()));
            }
        }
        requests
    }
}

impl Indexed for NodeView {
    const KIND: &'static str = "Node";

    fn store(index: &Index) -> &Store<Self> {
        &index.nodes
    }

    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.nodes.apply(event) {
            if !diff.is_change(|old, new| !old.is_equivalent(new)) {
                continue;
            }
            let may_deregister = diff.new.as_ref().is_none_or(|node| !node.usable);
            let states = [&diff.old, &diff.new].into_iter().flatten();
            let owners: BTreeSet<Owner> = states
                .flat_map(|node| index.service_owners.of_node(&node.labels))
                .collect();
            for owner in owners {
                index
                    .pending
                    .mark(&owner, Unit::clone(&key.name), may_deregister);
                requests.push(Request::high_if(may_deregister, owner.request_key()));
            }
        }
        requests
    }
}

impl Index {
    /// Updates what uses drivers. Returns requests for the drivers that now have their first user,
    /// or lost their last one, because a driver has its finalizer while it is in use.
    pub(super) fn update_driver_users<T, E>(
        &mut self,
        diff: &Diff<T>,
        users: impl Fn(&T) -> E,
    ) -> Vec<Request>
    where
        E: IntoIterator<Item = (ObjectKey, RequestKey)>,
    {
        let drivers = self.by_driver.update(diff, users).into_iter();
        let known = drivers.filter(|driver| self.drivers.find(driver).is_some());
        known.map(RequestKey::Driver).map(Request::normal).collect()
    }

    /// Applies a change of an owner of backends: what leads to it from Services, nodes and pods, and what
    /// is kept of one that is gone. Returns the requests that follow besides its own.
    fn owner_changed<K: BackendOwner + Resource>(
        &mut self,
        owner: &Owner,
        diff: &Diff<K>,
        is_changed: bool,
    ) -> Vec<Request> {
        let [old, new] = [&diff.old, &diff.new].map(|state| state.as_deref()?.service());
        self.service_owners.update(owner, old, new);
        let mut requests = self.records_of_new_owner(owner, diff);
        if is_changed {
            requests.extend(gates::of_owner(&self.selections, owner));
        }
        self.update_selection(owner);
        if is_changed {
            requests.extend(gates::of_owner(&self.selections, owner));
        }
        if diff.new.is_none() {
            self.pending.remove(owner);
            self.unit_tallies.remove(owner);
        }
        requests
    }

    fn update_selection(&mut self, owner: &Owner) {
        let rule = self.pod_rule(owner);
        self.selections.set(owner, rule.as_ref(), &self.pods);
    }

    /// Which pods an owner's backends depend on: those that it selects, those of its Service if that
    /// forwards only on the node, or those behind its endpoints. Of the latter all count if the policy
    /// about endpoints that are not ready needs them, and those with the readiness gate always.
    fn pod_rule(&self, owner: &Owner) -> Option<PodRule> {
        let object = self.backend_owner(owner)?;
        let (pods, only_gated) = if let Some(pods) = object.pods() {
            (pods.clone(), false)
        } else if object.service_of_endpoints().is_some() {
            let policy = object.deregister_policy().unwrap_or_default();
            (
                self.pods_behind(owner)?,
                policy == DeregisterPolicy::IfNotReady,
            )
        } else {
            let service = service_key(owner, object.service()?);
            let service = self.services.find(&service)?;
            (service.pods().filter(|_| service.is_local)?, false)
        };
        Some(PodRule { pods, only_gated })
    }

    fn is_on_nodes(&self, owner: &Owner) -> bool {
        let object = self.backend_owner(owner);
        object.is_some_and(|object| object.service_of_node_port().is_some())
    }
}
