//! The state of a router's handlers.

use super::hooks::Hooks;
use super::metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Context<D> {
    pub(super) driver: Arc<D>,
    pub(super) hooks: Hooks,
    pub(super) metrics: Arc<Metrics>,
    pub(super) settings: Settings,
}

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) answer_within: Duration,
    pub(super) keep_results: Duration,
    pub(super) body_limit: usize,
    pub(super) max_running_hooks: usize,
    pub(super) max_waiting_hooks: usize,
}
