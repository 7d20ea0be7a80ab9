//! What the controller knows of the cluster: its own index of what the watches said.
//!
//! Every question that deciding asks ("the groups of this pod", "the records of this load
//! balancer", "who else has this address") is one look-up here; nothing scans the cluster (u40).
//! Each change answers with the work that it means, as [`Work`]. There is no I/O and no clock
//! in here, so it is tested by feeding it objects.

mod binds;
mod groups;
mod load_balancers;
mod look_up;
mod multi_map;
mod nodes;
mod pending;
mod pods;
mod records;
mod selections;
mod service_groups;
mod services;
mod table;
mod take_in;
mod tallies;
mod users;

pub(crate) use nodes::NodeView;
pub(crate) use pods::PodView;
pub(crate) use records::{AddressKey, LoadBalancerOf, unit_of};
pub(crate) use service_groups::takes_node;
#[cfg(test)]
pub(crate) use services::ServicePortView;
pub(crate) use services::ServiceView;
pub(crate) use table::Versioned;
pub(crate) use users::{User, UserKind};

use crate::api::LoadBalancerDriver;
use crate::key::ObjectKey;
use binds::Binds;
use groups::Groups;
use load_balancers::LoadBalancers;
use pending::Pending;
use pods::Pods;
use records::Records;
use selections::Selections;
use service_groups::ServiceGroups;
use table::Table;

/// What became of an object.
#[derive(Debug)]
pub(crate) enum Change<T> {
    /// A watch starts to list everything there is.
    ListBegins,
    /// One object of that list.
    Listed(T),
    /// One object of that list that is not what its kind should be; its name is all there is.
    Unreadable(ObjectKey),
    /// The list is complete: what it did not name is gone.
    ListEnds,
    /// An object is new or changed, says the watch.
    Applied(T),
    /// An object is gone, says the watch.
    Deleted(T),
    /// An object that could not be understood is gone.
    Gone(ObjectKey),
    /// The API server's answer to a write of ours, which may come before or after the watch tells
    /// of it.
    Written(T),
    /// The API server was asked for an object and has none of that name, so none that was at this
    /// version when it was asked. A watch that had to list anew need not tell of it ever.
    Absent(ObjectKey, u64),
}

/// Whether something that was looked up is there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there.
    Missing,
    /// It is there, but cannot be understood: nothing may be concluded from it (u9).
    Unreadable,
}

impl<T> Lookup<T> {
    /// It, if it is there.
    pub(crate) fn found(self) -> Option<T> {
        match self {
            Self::Found(object) => Some(object),
            Self::Missing | Self::Unreadable => None,
        }
    }
}

/// The index of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Index {
    drivers: Table<LoadBalancerDriver>,
    load_balancers: LoadBalancers,
    groups: Groups,
    binds: Binds,
    records: Records,
    pods: Pods,
    services: Table<ServiceView>,
    nodes: Table<NodeView>,
    service_groups: ServiceGroups,
    selections: Selections,
    pending: Pending,
}

#[cfg(test)]
mod tests;
