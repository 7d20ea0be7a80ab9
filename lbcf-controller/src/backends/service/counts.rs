use crate::api::ServiceMode;
use crate::backends::{BackendCounts, OwnerCounts};
use crate::index::EndpointCounts;

/// Counts the backends of a Service. `registered_units` returns how many addresses have at least so many
/// registered records.
pub(crate) fn count_of_service(
    mode: ServiceMode,
    counts: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendCounts {
    match mode {
        // The records of all nodes together are one backend.
        ServiceMode::NodePort => BackendCounts {
            backends: 1,
            registered: usize::from(counts.records > 0 && counts.registered >= counts.records),
            records: counts.records,
        },
        ServiceMode::Endpoints => count_endpoints(counts, registered_units),
    }
}

/// A backend is an address, which usually has one port.
fn count_endpoints(
    counts: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendCounts {
    let EndpointCounts {
        units, endpoints, ..
    } = counts.endpoints;
    let records = endpoints * counts.load_balancers;
    let registered = if records == 0 {
        0
    } else if counts.registered >= records {
        units
    } else {
        // At least one lacks a record, also where addresses have different numbers of ports.
        registered_units(records.div_ceil(units)).min(units.saturating_sub(1))
    };
    BackendCounts {
        backends: units,
        registered,
        records,
    }
}
