//! What BackendGroups and Binds share: which backends they want, the records for them, and the
//! writes that create, update and delete records.

mod batch;
mod eligibility;
mod execute;
mod plan;
mod record;
mod verdict;

pub(crate) use batch::UnitBatch;
pub(crate) use eligibility::{Eligibility, eligibility_of_pod};
pub(crate) use execute::execute;
pub(crate) use plan::{DesiredRecords, RecordPlan, RecordSettings, compare};
pub(crate) use record::{node_source, pod_source, ports, record, source_of};
pub(crate) use verdict::{enqueue_verdict, reconcile_verdict};
