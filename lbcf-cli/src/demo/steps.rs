//! The steps of the tour: each makes a change and waits for its effect in the cloud.

pub(super) mod bind;
pub(super) mod load_balancer;
pub(super) mod outages;
pub(super) mod parameters;
pub(super) mod pods;
pub(super) mod rollout;
pub(super) mod static_addresses;
pub(super) mod teardown;
