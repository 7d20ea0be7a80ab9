//! Shared by BackendGroups and Binds: they select backends, create, update and delete the records for
//! them, and report counts and a condition in their status in the same way.

mod adoption;
mod backend;
mod batch;
mod counts;
mod decide;
mod eligibility;
mod execute;
mod observe;
mod plan;
mod pod_ports;
mod reconcile;
mod report;
mod service;
mod status;
mod taken;
mod verdict;
mod waiting;

pub(crate) use backend::{Backend, endpoint_record_name, node_source, source_of};
pub(crate) use counts::{BackendCounts, to_i32};
pub(crate) use pod_ports::{pod_port, ports};
pub(crate) use reconcile::reconcile;
pub(crate) use service::{
    EndpointCandidates, EndpointState, SelectedService, port_of_slice, the_one,
};
pub(crate) use status::{OwnerKind, counted, write_counts};
pub(crate) use verdict::reconcile_verdict;
