//! What BackendGroups and Binds share: which backends they want, the records for them, and the
//! writes that create, update and delete records.

mod adoption;
mod batch;
mod counts;
mod eligibility;
mod execute;
mod plan;
mod record;
mod report;
mod service;
mod taken;
mod verdict;
mod waiting;

pub(crate) use adoption::may_adopt;
pub(crate) use batch::{UnitBatch, finish};
pub(crate) use counts::{BackendCounts, OwnerCounts, count_units, to_i32};
pub(crate) use eligibility::{Eligibility, eligibility_of_pod};
pub(crate) use execute::{PlanOutcome, execute};
pub(crate) use plan::{DesiredRecords, RecordPlan, RecordSettings, compare};
pub(crate) use record::{node_source, owner_reference, pod_source, ports, record, source_of};
pub(crate) use report::{WaitReport, report_refusal, view};
#[cfg(test)]
pub(crate) use service::CandidateNode;
pub(crate) use service::{
    BackendOfService, EndpointCandidates, EndpointState, SelectedService, ServiceCandidates,
    ServiceWait, count_endpoints, count_of_service, endpoint_record_name, observe_service,
    port_of_slice, the_one,
};
pub(crate) use taken::message as conflict_message;
pub(crate) use verdict::{enqueue_verdict, reconcile_verdict};
pub(crate) use waiting::{OwnerView, selection, some, unfinished};
