//! The reconcilers, one for each kind: what happens when an object of it, or something that it depends on,
//! changes.

pub(crate) mod backend_group;
pub(crate) mod backend_record;
pub(crate) mod bind;
pub(crate) mod driver;
pub(crate) mod load_balancer;
pub(crate) mod pod;
pub(crate) mod service;
