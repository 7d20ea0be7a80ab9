//! The controller's view of the cluster: a store for each watched kind, and indexes between them.
//!
//! Everything that reconciling asks ("the groups of this pod", "the records of this load balancer",
//! "the other records with this address") is one look-up; nothing iterates over the cluster.
//! Applying an event returns the reconcile requests that follow from it. There is no I/O and no
//! clock, so tests only have to apply events.

mod address;
mod apply;
mod binds;
mod claims;
mod deletions;
mod endpoints;
mod gates;
mod handover;
mod leaving;
mod load_balancer_use;
mod look_up;
mod multi_map;
mod nodes;
mod ownership;
mod pause;
mod pending;
mod pods;
mod record_events;
mod record_uids;
mod records;
mod request;
mod selections;
mod service_classes;
mod services;
mod slices;
mod store;
mod tallies;
mod users;

pub(crate) use address::AddressKey;
pub(crate) use endpoints::{SliceEndpoint, endpoints_of_pod};
pub(crate) use load_balancer_use::{
    LoadBalancerUse, UnusableLoadBalancer, UsableLoadBalancer, is_in_scope,
};
pub(crate) use nodes::NodeView;
pub(crate) use ownership::{Neighbour, Ownership};
pub(crate) use pods::PodView;
pub(crate) use pods::{GateStatus, PodCondition, PodReadiness};
pub(crate) use record_uids::{DepartureMark, LeftAddresses};
pub(crate) use records::{counts_as_registered, load_balancer_of, unit_of, unregistered};
pub(crate) use request::{
    BindLoadBalancerKey, Owner, Priority, Request, RequestKey, Unit, controller_of,
};
pub(crate) use service_classes::{claimant, is_owned, service_of};
pub(crate) use services::{Ingress, ServiceLoadBalancer, ServicePortView, ServiceView};
#[cfg(test)]
pub(crate) use slices::{Endpoint, EndpointConditions, PodTarget, SlicePort};
pub(crate) use slices::{SliceParts, SliceView};
pub(crate) use store::{Lookup, Store, StoreEvent, Versioned};
pub(crate) use tallies::{EndpointCounts, UnitTally};
pub(crate) use users::DriverUse;
pub(crate) use users::{service_key, takes_node};

use crate::api::{BackendGroup, Bind, LoadBalancer, LoadBalancerDriver, ObjectKey};
use claims::Claims;
use multi_map::MultiMap;
use pending::Pending;
use pods::Pods;
use records::Records;
use selections::Selections;
use service_classes::ServiceClasses;
use slices::Slices;
use std::fmt::Debug;
use tallies::UnitTallies;
use users::{DriverUsers, ServiceOwners};

/// A kind of objects that the index holds.
pub(crate) trait Indexed: Versioned + Debug + Send + Sync + Sized + 'static {
    const KIND: &'static str;

    fn store(index: &Index) -> &Store<Self>;

    /// Applies an event; returns the reconcile requests that follow from it.
    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request>;
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
    claims: Claims,
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
