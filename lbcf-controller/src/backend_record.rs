//! BackendRecord: one address, registered and taken away (section 16 of the behaviour list).

mod act;
mod decide;
mod pod;

pub(crate) use act::act;
