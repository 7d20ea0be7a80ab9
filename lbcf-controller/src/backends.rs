//! The part that BackendGroups and Binds share: which backends they want, the records for them, the writes that
//! create, update and delete records, and the counts and the condition in their status.

mod address;
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
mod whole;

pub(crate) use address::{address_problem, generate_request};
pub(crate) use backend::Backend;
pub(crate) use counts::{BackendCounts, to_i32};
pub(crate) use decide::usable;
pub(crate) use pods::ports;
pub(crate) use reconcile::reconcile;
pub(crate) use service::{EndpointCandidates, SelectedService};
pub(crate) use status::{OwnerKind, counted, write_counts};
pub(crate) use verdict::reconcile_verdict;
pub(crate) use whole::{fetch, is_backend_available, pod_of};
