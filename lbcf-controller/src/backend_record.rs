//! BackendRecord: one address, registered and taken away (section 16 of the behaviour list).

mod act;
mod backend;
mod decide;

pub(crate) use act::act;
