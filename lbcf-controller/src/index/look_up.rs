//! The look-ups of reconciling.

use super::service_classes::{claimant, is_owned};
use super::{DriverUse, Index, Indexed, Lookup, PodView, ServiceView, binds, is_in_scope};
use crate::api::names::SYSTEM_NAMESPACE;
use crate::api::{
    BackendGroup, BackendOwner, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, ObjectKey,
    StringMap, names,
};
use crate::index::request::{BindLoadBalancerKey, Owner, RequestKey, Unit};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

impl Index {
    pub(crate) fn get<K: Indexed>(&self, key: &ObjectKey) -> Lookup<Arc<K>> {
        K::store(self).get(key)
    }

    /// Like [`Index::get`], for where an unreadable object is the same as none.
    pub(crate) fn find<K: Indexed>(&self, key: &ObjectKey) -> Option<Arc<K>> {
        K::store(self).find(key).cloned()
    }

    fn contains<K: Indexed>(&self, key: &ObjectKey) -> bool {
        K::store(self).find(key).is_some()
    }

    /// True if the object of a request exists.
    pub(crate) fn contains_key(&self, key: &RequestKey) -> bool {
        match key {
            RequestKey::Driver(key) | RequestKey::DriverHealth(key) => {
                self.contains::<LoadBalancerDriver>(key)
            }
            RequestKey::LoadBalancer(key) => self.contains::<LoadBalancer>(key),
            RequestKey::Group(key) => self.contains::<BackendGroup>(key),
            RequestKey::Record(key) => self.contains::<BackendRecord>(key),
            RequestKey::Bind(key) => self.contains::<Bind>(key),
            RequestKey::Pod(key) => {
                let pod = self.pods.store.find(key);
                pod.is_some_and(|pod| pod.gate.is_some())
            }
            RequestKey::Service(key) => self.contains::<ServiceView>(key),
            RequestKey::DeregisterVerdict(owner) => self.contains_owner(owner),
            RequestKey::BindLoadBalancer(key) => {
                let bind = self.binds.find(&key.bind);
                bind.is_some_and(|bind| binds::names_of(bind).contains(&key.name))
            }
        }
    }

    /// The object that owns records, whatever its kind.
    pub(crate) fn backend_owner(&self, owner: &Owner) -> Option<&dyn BackendOwner> {
        match owner {
            Owner::Group(key) => Some(&**self.groups.find(key)?),
            Owner::Bind(key) => Some(&**self.binds.find(key)?),
        }
    }

    pub(super) fn contains_owner(&self, owner: &Owner) -> bool {
        self.backend_owner(owner).is_some()
    }

    /// The driver that reconciling a request calls, and the load balancer's identity at that
    /// driver; none if it calls no driver, or one for a [deregister
    /// verdict](RequestKey::DeregisterVerdict).
    pub(crate) fn target_of(&self, key: &RequestKey) -> Option<(ObjectKey, StringMap)> {
        let (namespace, driver, lb_info) = match key {
            // A probe takes no slot of its driver: it must not wait for calls that hang.
            RequestKey::Driver(_)
            | RequestKey::DriverHealth(_)
            | RequestKey::Group(_)
            | RequestKey::Bind(_)
            | RequestKey::Pod(_)
            | RequestKey::Service(_)
            | RequestKey::DeregisterVerdict(_) => return None,
            RequestKey::LoadBalancer(key) => {
                let lb = self.load_balancers.find(key)?;
                let known = lb.status.as_ref().map(|status| &status.lb_info);
                let known = known.filter(|lb_info| !lb_info.is_empty());
                let lb_info = known.unwrap_or(&lb.spec.lb_spec);
                (&key.namespace, &lb.spec.lb_driver, lb_info)
            }
            RequestKey::BindLoadBalancer(key) => {
                let bind = self.binds.find(&key.bind)?;
                let mut desired = bind.spec.load_balancers.iter();
                let status = bind.status.iter();
                let mut existing = status.flat_map(|status| &status.load_balancer_statuses);
                let (driver, lb_info) = match existing.find(|lb| lb.name == key.name) {
                    Some(existing) => (&existing.driver, &existing.lb_info),
                    None => desired
                        .find(|lb| lb.name == key.name)
                        .map(|lb| (&lb.driver, &lb.spec))?,
                };
                (&key.bind.namespace, driver, lb_info)
            }
            RequestKey::Record(key) => {
                let record = self.records.store.find(key)?;
                let spec = &record.spec;
                (&key.namespace, &spec.lb_driver, &spec.lb_info)
            }
        };
        Some((names::resolve(namespace, driver), lb_info.clone()))
    }

    /// The namespace that owns a load balancer of a driver, unless it is the object's or admits the object's.
    pub(crate) fn other_owner(
        &self,
        driver: &ObjectKey,
        identity: &StringMap,
        object: &RequestKey,
    ) -> Option<String> {
        let namespace = &object.object().namespace;
        let admits = |other: &RequestKey| match other {
            RequestKey::LoadBalancer(key) => {
                let lb = self.load_balancers.find(key);
                lb.is_some_and(|lb| is_in_scope(lb, namespace))
            }
            _ => false,
        };
        let identity = (driver.clone(), identity.clone());
        self.claims.owner(&identity, namespace, admits)
    }

    /// The object has a load balancer from now on, unless another namespace owns it, which is returned.
    pub(crate) fn claim(
        &mut self,
        driver: &ObjectKey,
        identity: StringMap,
        object: &RequestKey,
    ) -> Option<String> {
        let owner = self.other_owner(driver, &identity, object);
        if owner.is_none() {
            self.claims.add((driver.clone(), identity), object.clone());
        }
        owner
    }

    /// The driver that a request for a verdict calls.
    pub(crate) fn verdict_driver_of(&self, key: &RequestKey) -> Option<ObjectKey> {
        let RequestKey::DeregisterVerdict(owner) = key else {
            return None;
        };
        let webhook = self.backend_owner(owner)?.deregister_webhook()?;
        let driver = names::resolve(&owner.key().namespace, &webhook.driver_name);
        Some(driver)
    }

    /// The objects that use a driver, in every namespace, and so prevent its deletion: load
    /// balancers and records, and what calls its deregister webhook.
    pub(crate) fn users_of_driver(&self, driver: &ObjectKey) -> BTreeSet<RequestKey> {
        self.by_driver.objects(driver).collect()
    }

    /// The objects that use a driver, as far as they are known.
    pub(crate) fn use_of_driver(&self, driver: &ObjectKey) -> DriverUse {
        let examples = self.by_driver.examples(driver);
        if !examples.is_empty() {
            return DriverUse::Used(examples);
        }
        let is_near = |key: &ObjectKey| {
            *driver.namespace == *names::SYSTEM_NAMESPACE || driver.namespace == key.namespace
        };
        let is_unknown = self.load_balancers.unreadable().any(is_near)
            || self.groups.unreadable().any(is_near)
            || self.binds.unreadable().any(is_near)
            || self.records.store.unreadable().any(is_near);
        if is_unknown {
            DriverUse::Unknown
        } else {
            DriverUse::Unused
        }
    }

    /// Takes the next units of an owner that have to be reconciled, at most `limit`.
    pub(crate) fn take_units(&mut self, owner: &Owner, limit: usize) -> BTreeSet<Unit> {
        if self.pending.take_all(owner) {
            let mut units: BTreeSet<Unit> = self.records.units(owner).cloned().collect();
            units.extend(self.candidates(owner));
            self.unit_tallies.retain(owner, &units);
            for unit in units {
                self.pending.mark(owner, unit, false);
            }
        }
        self.pending.take(owner, limit)
    }

    /// Marks units of an owner as having to be reconciled.
    pub(crate) fn mark_units<'a>(
        &mut self,
        owner: &Owner,
        units: impl IntoIterator<Item = &'a Unit>,
    ) {
        if self.contains_owner(owner) {
            for unit in units {
                self.pending.mark(owner, Unit::clone(unit), false);
            }
        }
    }

    /// Marks units that cannot be done now, with the reasons. They are not taken before [`Index::release_units`].
    pub(crate) fn hold_units(&mut self, owner: &Owner, units: BTreeMap<Unit, String>) {
        if self.contains_owner(owner) {
            self.pending.hold(owner, units);
        }
    }

    /// The reason why the first unit of an owner is held, and how many others are.
    pub(crate) fn held(&self, owner: &Owner) -> Option<(&String, usize)> {
        let mut held = self.pending.held(owner);
        let first = held.next()?;
        Some((first, held.count()))
    }

    /// Lets the held units of an owner be taken again; returns whether there were any.
    pub(crate) fn release_units(&mut self, owner: &Owner) -> bool {
        self.pending.release(owner)
    }

    /// The units that an owner's backends may consist of.
    fn candidates(&self, owner: &Owner) -> Vec<Unit> {
        if let Some(service) = self.service_of_endpoints(owner) {
            return self.addresses_of(&service).into_iter().collect();
        }
        let Some(object) = self.backend_owner(owner) else {
            return Vec::new();
        };
        if object.pods().is_some() {
            return self.selections.members.get(owner).cloned().collect();
        }
        if object.service().is_some() {
            return self.nodes.keys().map(|node| node.name.clone()).collect();
        }
        let addresses = object.static_addresses().iter();
        addresses.map(|addr| addr.as_str().into()).collect()
    }

    /// The units that are pods which the owner selects.
    pub(crate) fn pods_of(&self, owner: &Owner, units: &BTreeSet<Unit>) -> Vec<Arc<PodView>> {
        let selected = units
            .iter()
            .filter(|name| self.selections.members.contains(owner, &**name));
        self.pods_named(owner, selected)
    }

    fn pods_named<'a>(
        &self,
        owner: &Owner,
        names: impl Iterator<Item = &'a Unit>,
    ) -> Vec<Arc<PodView>> {
        let namespace = &owner.key().namespace;
        let keys = names.map(|name| ObjectKey::new(namespace.clone(), name.clone()));
        keys.filter_map(|key| self.find(&key)).collect()
    }

    /// The owners that select a pod.
    pub(crate) fn owners_selecting(&self, pod: &ObjectKey) -> impl Iterator<Item = &Owner> {
        self.selections.of_pod.get(pod)
    }

    /// True if an owner selects a pod that is neither available nor being deleted.
    pub(crate) fn has_unready_pods(&self, owner: &Owner) -> bool {
        self.selections.unready.get(owner).next().is_some()
    }

    /// True if an owner selects a pod that is not available and may become so.
    pub(crate) fn awaits_pods(&self, owner: &Owner) -> bool {
        self.selections.awaits_pods(owner)
    }

    /// The pods that an owner selects and that are neither available nor being deleted: first those
    /// with records, then those without.
    pub(crate) fn unready_pods_of(&self, owner: &Owner) -> [Vec<Arc<PodView>>; 2] {
        let unready = self.selections.unready.get(owner);
        // The unit of an endpoint is its address, not its pod.
        let has_records = |pod: &&Unit| {
            let pod = ObjectKey::new(owner.key().namespace.clone(), Unit::clone(pod));
            let mut records = self.records.of_pod(&pod);
            records.any(|record| Owner::of(record).as_ref() == Some(owner))
        };
        let (with, without): (Vec<_>, Vec<_>) = unready.partition(has_records);
        [with, without].map(|names| self.pods_named(owner, names.into_iter()))
    }

    pub(crate) fn records_of(
        &self,
        owner: &Owner,
        units: &BTreeSet<Unit>,
    ) -> Vec<Arc<BackendRecord>> {
        units
            .iter()
            .flat_map(|unit| self.records.of_unit(owner, unit))
            .cloned()
            .collect()
    }
}

impl Index {
    /// The load balancers of LoadBalancers and Binds whose driver is accepted. This goes through all
    /// of them, unless no driver is accepted.
    pub(crate) fn load_balancers_of(
        &self,
        accepts: impl Fn(&LoadBalancerDriver) -> bool,
    ) -> BTreeSet<RequestKey> {
        let is_accepted = |key: &&ObjectKey| self.drivers.find(key).is_some_and(|it| accepts(it));
        let drivers: HashSet<&ObjectKey> = self.drivers.keys().filter(is_accepted).collect();
        if drivers.is_empty() {
            return BTreeSet::new();
        }
        let load_balancers = self.load_balancers.keys().cloned();
        let of_binds = self.binds.keys().flat_map(|bind| {
            let names = self.binds.find(bind).map(|it| binds::names_of(it));
            let key = |name: String| BindLoadBalancerKey {
                bind: bind.clone(),
                name,
            };
            names.into_iter().flatten().map(key)
        });
        load_balancers
            .map(RequestKey::LoadBalancer)
            .chain(of_binds.map(RequestKey::BindLoadBalancer))
            .filter(|key| {
                let target = self.target_of(key);
                target.is_some_and(|(driver, _)| drivers.contains(&driver))
            })
            .collect()
    }
}

impl Index {
    /// The drivers that name a class and may serve a namespace: its own, and those for all namespaces.
    pub(crate) fn drivers_of_class(
        &self,
        class: &str,
        namespace: &str,
    ) -> Vec<Arc<LoadBalancerDriver>> {
        let keys = self.service_classes.drivers.get(&class.to_owned());
        let keys =
            keys.filter(|key| *key.namespace == *namespace || *key.namespace == *SYSTEM_NAMESPACE);
        keys.filter_map(|key| self.find(key)).collect()
    }

    /// The other Services that have an address.
    pub(crate) fn others_at(&self, address: &str, service: &ObjectKey) -> Vec<Arc<ServiceView>> {
        let keys = self.service_classes.by_address.get(&address.to_owned());
        keys.filter(|key| *key != service)
            .filter_map(|key| self.find(key))
            .collect()
    }

    /// The driver that serves a Service of a class.
    pub(crate) fn driver_of(&self, service: &ServiceView) -> Option<Arc<LoadBalancerDriver>> {
        let class = service.load_balancer.as_deref()?.class.as_deref()?;
        claimant(&self.drivers_of_class(class, &service.key.namespace)).cloned()
    }

    /// The load balancers and groups whose controller is a Service with this uid.
    pub(crate) fn owned_by_service(
        &self,
        service: &ObjectKey,
        uid: &str,
    ) -> (Vec<Arc<LoadBalancer>>, Vec<Arc<BackendGroup>>) {
        let classes = &self.service_classes;
        let lbs = classes.load_balancers.get(service);
        let groups = classes.groups.get(service);
        (
            lbs.filter_map(|key| self.find::<LoadBalancer>(key))
                .filter(|lb| is_owned(&lb.metadata, uid))
                .collect(),
            groups
                .filter_map(|key| self.find::<BackendGroup>(key))
                .filter(|group| is_owned(&group.metadata, uid))
                .collect(),
        )
    }
}
