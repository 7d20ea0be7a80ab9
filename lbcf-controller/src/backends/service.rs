//! A Service as the source of backends, for BackendGroups and Binds alike: its node port on the
//! selected nodes, or its endpoints.

mod endpoints;
pub(super) mod nodes;
mod waiting;

pub(crate) use endpoints::{
    EndpointCandidates, EndpointState, SelectedService, port_of_slice, the_one,
};
pub(super) use endpoints::{EndpointPort, tallies};
pub(super) use nodes::{CandidateNode, NodePort};
pub(super) use waiting::ServiceWait;
