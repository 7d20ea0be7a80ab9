//! A Service as the source of backends, for BackendGroups and Binds alike (d60, d77): its node port on the
//! selected nodes, or its endpoints.

mod candidates;
mod counts;
mod endpoints;
mod nodes;
mod observe;
mod record;
mod selected;
mod waiting;
mod waiting_for_endpoints;

pub(crate) use candidates::{BackendOfService, ServiceCandidates};
pub(crate) use counts::count_of_service;
pub(crate) use endpoints::{EndpointCandidates, EndpointState, port_of_slice, the_one};
#[cfg(test)]
pub(crate) use nodes::CandidateNode;
pub(crate) use observe::{count_endpoints, observe_service};
pub(crate) use record::endpoint_record_name;
pub(crate) use selected::SelectedService;
pub(crate) use waiting::ServiceWait;
