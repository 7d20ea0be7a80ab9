//! The counts in the status of an owner of backends (d8). No I/O, no clock.

use crate::index::{EndpointCounts, Index, Owner};

/// What the index counts of an owner.
#[derive(Debug, Default)]
pub(crate) struct OwnerCounts {
    /// Load balancers that exist in the cloud and may be used by the owner.
    pub load_balancers: usize,
    /// Selected ones that are not being deleted.
    pub pods: usize,
    /// Those that are not being deleted.
    pub records: usize,
    pub registered: usize,
    /// What the endpoints count, if they are the backends.
    pub endpoints: EndpointCounts,
}

/// The result, where a backend is registered when all its records are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BackendCounts {
    pub backends: usize,
    pub registered: usize,
    /// Records that the owner should have, whether or not they exist.
    pub records: usize,
}

impl OwnerCounts {
    pub(crate) fn of(index: &Index, owner: &Owner, load_balancers: usize) -> Self {
        Self {
            load_balancers,
            pods: index.selections.count(owner),
            records: index.records.count_kept(owner),
            registered: index.records.tallies.records(owner),
            endpoints: index.unit_tallies.of(owner),
        }
    }
}

/// Counts backends of which each has a record for each port and load balancer. `registered_units` returns
/// how many of them have at least so many registered records.
pub(crate) fn count_units(
    backends: usize,
    per_backend: usize,
    registered_units: impl Fn(usize) -> usize,
) -> BackendCounts {
    let registered = if per_backend == 0 {
        0
    } else {
        registered_units(per_backend).min(backends)
    };
    BackendCounts {
        backends,
        registered,
        records: backends * per_backend,
    }
}

/// A count as it is stored.
pub(crate) fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
