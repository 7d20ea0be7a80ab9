//! The mock's CLB-like cloud, for which the examples are made.

use super::{Profile, map};
use crate::demo::steps::STEPS;

pub(super) fn profile() -> Profile {
    Profile {
        load_balancers: None,
        parameters: map([("weight", "50")]),
        updated_parameters: Some(map([("weight", "80")])),
        // More than a load balancer can have.
        refused_parameters: Some(map([("weight", "1000")])),
        bind_parameters: map([("weight", "100")]),
        updated_attributes: Some(map([("max-bandwidth-out", "20")])),
        static_load_balancer: "a load balancer that exists already",
        without: None,
        source: None,
        steps: STEPS,
    }
}
