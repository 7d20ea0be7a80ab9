//! What BackendGroups and Binds share: which backends there shall be, the records that stand for
//! them, and how records are made, changed and deleted.

mod answer;
mod carry_out;
mod expected;
mod judge;
mod judgement;
mod plan;
mod standing;
mod taken;

pub(crate) use answer::Answer;
pub(crate) use carry_out::carry_out;
pub(crate) use expected::{node_source, pod_source, ports, record};
pub(crate) use judge::{judge, wake_judge};
pub(crate) use judgement::{Judged, Judgement};
pub(crate) use plan::{Expected, Plan, Settings, compare};
pub(crate) use standing::{Standing, standing_of_pod};
pub(crate) use taken::Taken;
