//! The part that BackendGroups and Binds share: which backends they want, the records for them, the writes that
//! create, update and delete records, and the counts and the condition in their status.

mod backend;
mod brake;
mod counts;
mod decide;
mod execute;
mod hold;
mod plan;
mod pods;
mod reconcile;
mod replacement;
mod service;
mod status;
mod unready;
mod verdict;
mod waiting;

pub(crate) use backend::{Backend, endpoint_record_name, node_source, source_of};
pub(crate) use counts::{BackendCounts, to_i32};
pub(crate) use decide::usable;
pub(crate) use pods::{pod_port, ports};
pub(crate) use reconcile::reconcile;
pub(crate) use service::{
    EndpointCandidates, EndpointState, SelectedService, port_of_slice, the_one,
};
pub(crate) use status::{OwnerKind, counted, write_counts};
pub(crate) use verdict::reconcile_verdict;
