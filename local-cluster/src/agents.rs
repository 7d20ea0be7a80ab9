//! What runs in a cluster besides the API: nodes, the collector, namespaces, definitions.
//!
//! Each agent is a plain state machine: it observes changes and acts when it is told to. The loop
//! in `run` feeds it from the journal of everything, so that an agent needs no task, timer or lock of
//! its own. Agents write without requests, so none is counted for them.

mod amount;
mod conditions;
mod daemon_sets;
mod definitions;
mod deployments;
mod desk;
mod endpoint_slices;
mod garbage;
mod history;
mod jobs;
mod kin;
mod kubelet;
mod labels;
mod lineage;
mod namespaces;
mod node;
mod pace;
mod phase;
mod placement;
mod pods;
mod replica_sets;
mod run;
mod start;
mod stateful_sets;
mod template;
mod timers;
mod workloads;
mod write;

pub(crate) use start::spawn;
