//! Explains why load balancers are not as declared: reads a cluster, as far as its user may, and never writes.
//!
//! [`Cluster::read`] takes a picture of the objects, and everything else is decided from that, without I/O:
//! [`why`] follows the references from an object to the first cause of what stops it, with a line that helps. Most of it follows from
//! the conditions that the controller writes. The rest is in no condition: names that almost exist, labels that almost match, pods that
//! are not Ready for a reason of their own, classes that no driver has, a controller that does not run.

mod backend;
pub mod check;
mod cluster;
pub mod diff;
mod finding;
mod object;
mod printed;
mod tree;
pub mod why;

pub use cluster::{Cluster, Object, ReadError, Scope, Unseen};
pub use finding::{Chain, Finding, Fix};
pub use object::{Kind, ObjectRef, UnknownKind};
pub use printed::push_line;
pub use tree::tree;
