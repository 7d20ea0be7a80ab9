//! What runs in a cluster besides the API: nodes, the collector, namespaces, definitions.
//!
//! Each agent is a plain state machine: it observes changes and acts when it is told to. The loop
//! in `run` feeds it from the journal of everything, so that an agent needs no task, timer or lock of
//! its own. Agents write without requests, so none is counted for them.

mod definitions;
mod garbage;
mod lineage;
mod namespaces;
mod node;
mod phase;
mod run;
mod start;

pub(crate) use start::spawn;
