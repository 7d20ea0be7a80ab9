//! The controller's view of the cluster: a store for each watched kind, and indexes between them.
//!
//! Everything that reconciling asks ("the groups of this pod", "the records of this load balancer",
//! "the other records with this address") is one look-up; nothing iterates over the cluster (u40).
//! Applying an event returns the reconcile requests that follow from it. There is no I/O and no
//! clock, so tests only have to apply events.

mod address;
mod apply;
mod binds;
mod claimant;
mod driver_users;
mod endpoints;
mod gates;
mod listed;
mod load_balancer_use;
mod look_up;
mod multi_map;
mod neighbours;
mod nodes;
mod owner;
mod ownership;
mod pending;
mod pods;
mod readiness;
mod record_events;
mod record_uids;
mod records;
mod request;
mod selections;
mod service_classes;
mod service_load_balancer;
mod service_owners;
mod services;
mod shared_maps;
mod slices;
mod store;
mod tallies;
mod unit_tallies;

pub(crate) use address::AddressKey;
pub(crate) use claimant::claimant;
pub(crate) use driver_users::DriverUse;
pub(crate) use endpoints::{SliceEndpoint, endpoints_of_pod};
pub(crate) use load_balancer_use::{
    LoadBalancerUse, UnusableLoadBalancer, UsableLoadBalancer, is_in_scope,
};
pub(crate) use neighbours::Neighbour;
pub(crate) use nodes::NodeView;
pub(crate) use owner::{Owner, Unit, controller_of};
pub(crate) use ownership::Ownership;
pub(crate) use pods::PodView;
pub(crate) use readiness::{GateStatus, PodCondition, PodReadiness};
pub(crate) use record_uids::{DepartureMark, LeftAddresses};
pub(crate) use records::{counts_as_registered, unit_of};
pub(crate) use request::{BindLoadBalancerKey, Priority, Request, RequestKey};
pub(crate) use service_classes::service_of;
pub(crate) use service_load_balancer::{Ingress, ServiceLoadBalancer};
pub(crate) use service_owners::{service_key, takes_node};
pub(crate) use services::{ServicePortView, ServiceView};
#[cfg(test)]
pub(crate) use slices::{Endpoint, EndpointConditions, PodTarget, SlicePort};
pub(crate) use slices::{SliceParts, SliceView};
pub(crate) use store::{Store, Versioned};
pub(crate) use unit_tallies::{EndpointCounts, UnitTally};

use crate::api::{BackendGroup, Bind, LoadBalancer, LoadBalancerDriver, ObjectKey};
use driver_users::DriverUsers;
use multi_map::MultiMap;
use pending::Pending;
use pods::Pods;
use records::Records;
use selections::Selections;
use service_classes::ServiceClasses;
use service_owners::ServiceOwners;
use slices::Slices;
use std::fmt::Debug;
use unit_tallies::UnitTallies;

/// A change of a store. The first five are those of kube's watcher.
#[derive(Debug)]
pub(crate) enum StoreEvent<T> {
    /// A watch begins to list all objects.
    Init,
    InitApply(T),
    /// The list is complete: objects that it did not contain do not exist.
    InitDone,
    Apply(T),
    Delete(T),
    /// A listed or changed object cannot be parsed; only its name is known.
    Unreadable(ObjectKey),
    UnreadableDelete(ObjectKey),
    /// The response to a write of this process, which arrives before or after the watch event.
    Written(T),
    /// An object that this process read live, outside of the watch. Another writer may have changed it.
    Read(T),
    /// The API server responded that the object does not exist, of which this version was known
    /// when it was read. A watch that had to list again may never report the deletion.
    NotFound(ObjectKey, u64),
}

impl<T> StoreEvent<T> {
    /// The object that the event adds or changes.
    fn object_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::InitApply(object)
            | Self::Apply(object)
            | Self::Written(object)
            | Self::Read(object) => Some(object),
            _ => None,
        }
    }
}

/// A kind of objects that the index holds.
pub(crate) trait Indexed: Versioned + Debug + Send + Sync + Sized + 'static {
    const KIND: &'static str;

    fn store(index: &Index) -> &Store<Self>;

    /// Applies an event; returns the reconcile requests that follow from it.
    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request>;
}

/// The result of looking up an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup<T> {
    Found(T),
    Missing,
    /// It exists but cannot be parsed, so that nothing can be concluded from it (u9).
    Unreadable,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    drivers: Store<LoadBalancerDriver>,
    load_balancers: Store<LoadBalancer>,
    groups: Store<BackendGroup>,
    binds: Store<Bind>,
    pub(crate) records: Records,
    pods: Pods,
    services: Store<ServiceView>,
    nodes: Store<NodeView>,
    slices: Slices,
    by_driver: DriverUsers,
    groups_by_load_balancer: MultiMap<ObjectKey, ObjectKey>,
    service_owners: ServiceOwners,
    service_classes: ServiceClasses,
    pub(crate) selections: Selections,
    pub(crate) unit_tallies: UnitTallies,
    pending: Pending,
}

impl Index {
    /// Makes the next list of each kind replace all that is known of it, see
    /// [`Store::forget_versions`].
    pub(crate) fn forget_versions(&mut self) {
        self.drivers.forget_versions();
        self.load_balancers.forget_versions();
        self.groups.forget_versions();
        self.binds.forget_versions();
        self.records.store.forget_versions();
        self.pods.store.forget_versions();
        self.services.forget_versions();
        self.nodes.forget_versions();
        self.slices.store.forget_versions();
    }
}

#[cfg(test)]
mod tests;
