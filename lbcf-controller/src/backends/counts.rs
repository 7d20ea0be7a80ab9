//! Counts in the status of an owner of backends. No I/O, no clock.

use super::pods::ports;
use crate::api::{BackendOwner, ServiceMode};
use crate::index::{EndpointCounts, Index, Owner};
use std::collections::BTreeSet;

/// Counts of an owner in the index.
#[derive(Debug, Default)]
pub(crate) struct OwnerCounts {
    /// Load balancers that exist in the cloud and may be used by the owner.
    pub load_balancers: usize,
    /// Selected ones that are not being deleted.
    pub pods: usize,
    /// Those that are not being deleted.
    pub records: usize,
    pub registered: usize,
    /// Sums of the endpoints, if they are the backends.
    pub endpoints: EndpointCounts,
}

/// Facts of the index about an owner's pods and records.
#[derive(Debug, Default)]
pub(crate) struct OwnerView {
    /// True if some of the selected pods are neither available nor being deleted.
    pub has_unready_pods: bool,
    /// The message about records whose names are taken.
    pub conflict: Option<String>,
    /// The first record that is not registered for a known reason, and that reason.
    pub troubled: Option<String>,
    /// True if the last attempt to write its records failed.
    pub is_refused: bool,
}

/// The result, where a backend is registered when all its records are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BackendCounts {
    pub backends: usize,
    pub registered: usize,
    /// Records that the owner should have, whether or not they exist.
    pub records: usize,
    pub registered_records: usize,
}

impl BackendCounts {
    pub(super) const fn is_complete(&self) -> bool {
        self.backends > 0 && self.registered >= self.backends
    }
}

impl OwnerCounts {
    pub(super) fn of(index: &Index, owner: &Owner, load_balancers: usize) -> Self {
        Self {
            load_balancers,
            pods: index.selections.count(owner),
            records: index.records.count_kept(owner),
            registered: index.records.tallies.records(owner),
            endpoints: index.unit_tallies.of(owner),
        }
    }
}

/// Counts the backends of an owner. `registered_units` returns how many pods or addresses have at least so
/// many registered records.
pub(super) fn count(
    owner: &Owner,
    object: &dyn BackendOwner,
    known: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendCounts {
    // A backend has a record for each load balancer and port.
    let (backends, per_backend) = match (object.pods(), object.service()) {
        (Some(_), _) => {
            let per_pod = ports(owner, object).len() * known.load_balancers;
            (known.pods, per_pod)
        }
        (None, Some(service)) => match service.mode() {
            ServiceMode::NodePort => return count_nodes(known),
            ServiceMode::Endpoints => return count_endpoints(known, registered_units),
        },
        (None, None) => {
            let addresses = object.static_addresses().iter();
            let addresses: BTreeSet<&String> = addresses.filter(|it| !it.is_empty()).collect();
            (addresses.len(), known.load_balancers)
        }
    };
    let registered = match per_backend {
        0 => 0,
        per_backend => registered_units(per_backend).min(backends),
    };
    BackendCounts {
        backends,
        registered,
        records: backends * per_backend,
        registered_records: known.registered,
    }
}

/// The records of all nodes together are one backend.
fn count_nodes(known: &OwnerCounts) -> BackendCounts {
    BackendCounts {
        backends: 1,
        registered: usize::from(known.records > 0 && known.registered >= known.records),
        records: known.records,
        registered_records: known.registered,
    }
}

/// A backend is an address, which usually has one port.
fn count_endpoints(
    known: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendCounts {
    let EndpointCounts {
        units, endpoints, ..
    } = known.endpoints;
    let records = endpoints * known.load_balancers;
    let registered = if records == 0 {
        0
    } else if known.registered >= records {
        units
    } else {
        // At least one lacks a record, also where addresses have different numbers of ports.
        registered_units(records.div_ceil(units)).min(units.saturating_sub(1))
    };
    BackendCounts {
        backends: units,
        registered,
        records,
        registered_records: known.registered,
    }
}

/// A count as it is stored.
pub(crate) fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
