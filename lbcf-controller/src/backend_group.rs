//! BackendGroup: which records there shall be (section 15 of the behaviour list).

mod act;
mod decide;
mod expected;
mod load_balancer_state;

pub(crate) use act::act;
pub(crate) use load_balancer_state::is_in_scope;
