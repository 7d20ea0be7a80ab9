//! The state of a router's handlers.

use super::Settings;
use super::hooks::Hooks;
use super::metrics::Metrics;
use lbcf_serving::body::BodyBudget;
use std::sync::Arc;

pub(super) struct Context<D> {
    pub(super) driver: Arc<D>,
    pub(super) hooks: Hooks,
    pub(super) metrics: Arc<Metrics>,
    pub(super) bodies: BodyBudget,
    pub(super) settings: Settings,
}
