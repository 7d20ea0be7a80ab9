//! Tests over many cases, of which the normal run takes a sample; see [`lbcf_e2e::sample`]. The name
//! of this module selects them for the run with all cases.

mod chaos;
mod faults;
mod killed;
mod lost_responses;
pub(crate) mod mutations;
